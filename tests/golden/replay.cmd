resched replay --policy cfs --csv --task 'hb:nice=5' tests/data/lab-v7-k61-1c.dat
