for by in container unit; do resched report --by $by --host tests/data/host-owners.json tests/data/lab-v6-k612-1c.dat; done
resched report --by container tests/data/lab-v6-k612-1c.dat
resched info --host tests/data/host-owners.json tests/data/lab-v6-k612-1c.dat
