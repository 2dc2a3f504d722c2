#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Print docs/where-peers-err.md: the same recordings under perf, trace-cmd and resched, side by side. Needs perf and trace-cmd.
#   tests/tools/where_peers_err.sh >docs/where-peers-err.md
set -u
here=$(cd "$(dirname "$0")" && pwd)
RESCHED=${RESCHED:-$here/../../build/resched}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
python3 "$here/where_peers_err.py" "$work" || exit 1
cd "$work" || exit 1
resched() { "$RESCHED" "$@"; }

show() { # command line; prints it, its output and how it ended
	printf '\n```\n$ %s\n' "$1"
	( eval "$1" ) >out 2>&1
	rc=$?
	sed -e 's/[[:space:]]*$//' -e '/^$/d' out | cut -c1-170
	printf '(exit %d)\n```\n' "$rc"
}

cat <<END
# Where peers err

The same recordings under \`$(perf --version)\`, \`trace-cmd $(trace-cmd --version 2>&1 | grep -o 'version [0-9.]*' | cut -d' ' -f2)\` and resched. This page is printed by
\`tests/tools/where_peers_err.sh\`, which makes the recordings and runs what is shown. Other versions of these tools may do better.

## A perf.data with sched_waking and without sched_wakeup

\`perf sched record\` prefers sched_waking; \`perf sched latency\` of that version counts sched_wakeup only. All waits after a sleep are
missing from its table, and it does not say so. First the file with both events, then without sched_wakeup.
END
show "perf sched latency -i whole.data 2>/dev/null | grep -E 'Task|:33[0-9]|TOTAL'"
show "perf sched latency -i waking.data 2>/dev/null | grep -E 'Task|:33[0-9]|TOTAL'"
cat <<'END'

resched measures from waking, with either file, and says what it measured from:
END
show "resched report --style perf waking.data 2>&1 | head -12"
cat <<'END'

## Raced wakeups

A task is woken at 1.000 s while it still runs, goes to sleep at 1.300 s with that waking behind it, and is switched in again at
1.301 s. It was ready from 1.300 s on and waited 1 ms. Pairing the waking with the next switch-in would give 301 ms; perf gives none at all;
resched counts 1 ms of run delay, as a wait of its own kind that is no wakeup latency.
END
show "perf sched latency -i raced.data 2>/dev/null | grep -E 'Task|:100|worker|BUG|bugs|TOTAL'"
show "perf sched timehist -i raced.data 2>/dev/null | tail -4"
show "resched report --json raced.data | python3 -c 'import json, sys; t = [t for t in json.load(sys.stdin)[\"tasks\"] if t[\"pid\"] == 100][0]; print({k: t[k][\"max\"] for k in (\"wakeup_latency_ns\", \"run_delay_ns\")}, \"voluntary\", t[\"voluntary\"])'"
cat <<'END'

## Task states of new kernels

Letters of a 6.18 recording. trace-cmd's own form prints idle kernel threads as W and preempted tasks as plain R, so that preemptions
cannot be seen; its -N, which uses the recording's print format, is right, as is resched.
END
show "trace-cmd report new.dat 2>/dev/null | sed -n 's/.*\\] \\(\\S*\\) ==>.*/\\1/p' | sort | uniq -c"
show "trace-cmd report -N new.dat 2>/dev/null | sed -n 's/.*prev_state=\\(\\S*\\) ==>.*/\\1/p' | sort | uniq -c"
show "resched report --json new.dat 2>/dev/null | python3 -c 'import json, sys; t = json.load(sys.stdin)[\"totals\"]; print({k: t[k] for k in (\"switches\", \"voluntary\", \"involuntary\")})'"
cat <<'END'

## A trace.dat of version 7 that is cut

The last tenth of the file is missing. trace-cmd prints nothing and says that all is well.
END
show "trace-cmd report cut.dat | wc -l; exit \${PIPESTATUS[0]}"
show "resched info cut.dat | grep -E 'span|lost|sched_switch|in all'; exit \${PIPESTATUS[0]}"
cat <<'END'

## Lost events

Two bursts, three tenths of all events, are lost. perf counts them below its table, but pairs wakings with switches over the gaps; resched
leaves out each wait that touches a gap and counts it (unresolved).
END
show "perf sched latency -i lossy.data 2>/dev/null | grep -E 'Task|:33[0-9]|TOTAL|INFO'"
show "resched report --style perf lossy.data 2>&1 | head -14"
show "resched report --json lossy.data 2>/dev/null | python3 -c 'import json, sys; d = json.load(sys.stdin); print(\"lost\", d[\"source\"][\"lost_events\"], \"waits\", d[\"totals\"][\"run_delay_ns\"][\"count\"], \"left out\", d[\"totals\"][\"unresolved\"])'"
show "resched report --json whole.data 2>/dev/null | python3 -c 'import json, sys; d = json.load(sys.stdin); print(\"lost\", d[\"source\"][\"lost_events\"], \"waits\", d[\"totals\"][\"run_delay_ns\"][\"count\"], \"left out\", d[\"totals\"][\"unresolved\"])'"
