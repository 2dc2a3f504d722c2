#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Record two seconds of the bundled load and of whatever else this machine does, then compare what happened with
# what the three policies would have done. Where tracing is not permitted, a recording that is part of the tree serves.
set -u
cd "$(dirname "$0")/.." || exit 2

BUILD=${BUILD:-build}
resched=$BUILD/resched
file=$BUILD/demo.dat
shipped=tests/data/host-6.18.dat

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

rm -f "$file"
show "$resched" record -d 2 -o "$file" -- "$BUILD/wakeload"
rc=$?
if [ $rc -eq 4 ]; then	# what is missing was said just above
	echo "Tracing is not permitted here; going on with a recording of another machine, $shipped."
	file=$shipped
elif [ ! -s "$file" ] || [ $rc -eq 1 ] || [ $rc -eq 2 ]; then
	exit 1
fi
show "$resched" info "$file" &&
show "$resched" report --no-pager -n 15 "$file" &&
show "$resched" compare --no-pager "$file" --policy eevdf --policy evdf --policy cfs
