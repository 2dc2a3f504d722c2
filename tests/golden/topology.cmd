resched topology tests/data/lab-v7-k612-2c.dat
