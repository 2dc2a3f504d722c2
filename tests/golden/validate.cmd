resched validate tests/data/lab-v7-k612-2c.dat; resched validate tests/data/lab-v7-k61-1c.dat
