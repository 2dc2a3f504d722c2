resched report --by cpu --time 200ms,700ms tests/data/lab-v7-k612-2c.dat
