resched report --style schbench tests/data/lab-v6-k612-1c.dat
