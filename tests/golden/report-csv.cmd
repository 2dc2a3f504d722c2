resched report --csv -n 3 tests/data/lab-v7-k61-1c.dat
