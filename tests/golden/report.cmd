resched report tests/data/lab-v6-k612-1c.dat; resched report --style perf -n 5 tests/data/lab-v6-k612-1c.dat
