# A workload by hand: run, compared without a recorded column, written for rt-app; and one that is wrong.
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/w" <<'W'
resched-workload 1
span first=10s last=11s cpus=1
timing hz=250 tick=4ms confidence=1000000 idle-exit=2us
task 0 pid=100 comm=clock period=10ms phase=10s loop=0
 5us block period when=10010ms len=10ms
 1us wake task=1
task 1 pid=101 comm=worker loop=0
 2ms block woken by=0
W
cd "$tmp" && resched replay w --policy eevdf --csv | cut -d, -f1-9
resched export w --format workload -o - | grep -v '^host ' | tail -n 6
resched export w --format rt-app -o - | head -n 24
resched report w
sed -i 's/task=1/task=7/' w && resched replay w
