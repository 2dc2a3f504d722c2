resched report --by task --sort p99 -n 5 tests/data/lab-v7-k612-2c.dat
