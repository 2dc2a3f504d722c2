#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Who may include whom, read from the source text; and the few functions of libc that are not used here.
# Loosening the table takes a decision record (docs/adr).
set -u
cd "$(dirname "$0")/.." || exit 2

. scripts/verdict.sh

# What a room may include beside itself and <resched/…>: rooms, or single headers.
allowed() {
	case $1 in
	base) ;;
	trace | policies | analysis) echo base ;;
	capture) echo base trace ;;
	replay) echo base policies/policy.h policies/pelt.h policies/weight.h ;;
	report) echo base analysis ;;
	cli) echo tui/tui.h ;;	# the public API, and the door to the views (docs/adr)
	daemon | tui) ;;	# the public API alone
	*) return 1 ;;
	esac
}

for dir in src/*/; do
	room=${dir#src/}
	room=${room%/}
	compgen -G "src/$room/*.[ch]" >/dev/null || continue
	if ! may=$(allowed "$room"); then
		verdict "layers of src/$room" "src/$room: a room that the table in scripts/check-layers.sh does not know"
		continue
	fi
	bad=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' src/"$room"/*.[ch] /dev/null | while IFS= read -r line; do
		target=${line#*\"}
		target=${target%%\"*}
		case $target in
		"$room"/*) continue ;;
		*/*) ;;
		*) echo "$line   (write \"room/file.h\")"; continue ;;
		esac
		for m in $may; do
			case $target in "$m" | "$m"/*) continue 2 ;; esac
		done
		echo "$line   (src/$room may include: its own, <resched/…>${may:+, $may})"
	done)
	verdict "layers of src/$room" "$bad"
done

verdict 'public headers include libc and each other only' "$(grep -nE '^[[:space:]]*#[[:space:]]*include' include/resched/*.h |
	grep -vE '<resched/[a-z_]+\.h>|<(assert|errno|inttypes|limits|signal|stdarg|stdbool|stddef|stdint|stdio|sys/types)\.h>')"

# The model decides from numbers alone: no library, file or clock in these rooms.
verdict 'policies, replay and analysis stand on libc only' "$(grep -nE '#[[:space:]]*include[[:space:]]*<' src/policies/*.[ch] src/replay/*.[ch] src/analysis/*.[ch] /dev/null 2>/dev/null |
	grep -vE '<(resched/[a-z_]+|assert|ctype|errno|fnmatch|inttypes|limits|math|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|strings)\.h>')"

banned='strcpy|strcat|strncpy|strncat|sprintf|vsprintf|gets|strtok|atoi|atol|atoll|atof|localtime|gmtime|ctime|asctime|rand|srand|random|alloca'
verdict 'no banned function' "$(grep -nE "(^|[^A-Za-z0-9_.>])($banned)[[:space:]]*\(" src/*/*.[ch] tests/load/*.c /dev/null 2>/dev/null |
	grep -vE '^[^:]+:[0-9]+:[[:space:]]*(\*|//|/\*)')"

verdict 'licence line first' "$(for f in src/*/*.[ch] include/resched/*.h tests/*/*.[ch]; do
	[ -e "$f" ] || continue
	head -n 1 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' || echo "$f: the first line is not the SPDX line"
done)"
exit $status
