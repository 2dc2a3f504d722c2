resched report --json -p 0 tests/data/lab-v6-k612-1c.dat
