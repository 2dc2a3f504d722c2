# The text of a small workload, what can be asked for, and what cannot.
resched synth hackbench groups=1 loops=2 fds=1 --topology vm2 -o - | grep -v '^host '
resched synth hogs --list
resched synth hackbench --topology vm2 groups=0
resched synth hackbench --topology vm2 colour=red
resched synth dhrystone --topology vm2
