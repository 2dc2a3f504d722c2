resched compare -n 4 tests/data/lab-v6-k612-1c.dat --policy eevdf --policy evdf --policy cfs
