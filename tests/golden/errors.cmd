# Each of these is one line that says what, where and how to mend, and the exit code of the manual.
data=tests/data/lab-v7-k61-1c.dat
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
try() { "$@" 2>&1 >/dev/null | sed "s|$tmp|TMP|g"; echo "exit ${PIPESTATUS[0]}"; }
: >"$tmp/empty"
echo 'no recording at all, but long enough to be looked at' >"$tmp/text"
head -c $(($(stat -c %s $data) * 7 / 10)) $data >"$tmp/cut"
try resched report "$tmp/empty"
try resched report "$tmp/text"
try resched report "$tmp"
try resched report "$tmp/absent"
try resched report "$tmp/cut"
try resched replay --policy fifo $data
try resched replay --policy eevdf --model 9.9 $data
try resched replay --policy eevdf --feature NOTHING $data
try resched replay --policy eevdf --set base_slice_ns=soon $data
try resched replay --policy eevdf --task x:nice=40 $data
try resched report --sort luck $data
try resched report --frobnicate $data
try resched frobnicate
