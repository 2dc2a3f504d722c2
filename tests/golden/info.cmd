resched info tests/data/lab-v7-k61-1c.dat
