resched compare -n 2 tests/data/lab-v7-k612-2c.dat tests/data/lab-v7-none-k61-2c.dat
