#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tests/tui/NAME.keys is a script for `resched tui --keys`; its first line names the recording. What the screen shows in the end must
# be NAME.80x24 and NAME.200x60. No terminal is needed. --update rewrites the screens; a human reads the diff.
set -u
cd "$(dirname "$0")/../.." || exit 2

RESCHED=${RESCHED:-build/resched}
case $RESCHED in /*) ;; *) RESCHED=$PWD/$RESCHED ;; esac
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
status=0

for keys in tests/tui/*.keys; do
	[ -e "$keys" ] || continue
	name=${keys%.keys}
	recording=$(sed -n '1s/^# recording: //p' "$keys")
	locale=C.UTF-8
	grep -q '^# ascii' "$keys" && locale=C
	for size in 80x24 200x60; do
		{ cat "$keys"; echo wait; echo ":save-screen $dir/screen"; } >"$dir/keys"
		rm -f "$dir/screen"
		# shellcheck disable=SC2086 # several recordings are several words
		(cd tests/data && LC_ALL=$locale TZ=UTC COLUMNS=${size%x*} LINES=${size#*x} timeout 120 "$RESCHED" tui --keys "$dir/keys" $recording \
			</dev/null >"$dir/out" 2>&1)
		rc=$?
		if [ "${1:-}" = --update ]; then
			cp "$dir/screen" "$name.$size"
		elif [ $rc -eq 0 ] && diff -u "$name.$size" "$dir/screen" >"$dir/diff" 2>&1; then
			echo "ok screen ${name##*/} at $size"
		else
			echo "exit $rc"
			head -n 20 "$dir/out"
			head -n 40 "$dir/diff" 2>/dev/null
			echo "not ok screen ${name##*/} at $size"
			status=1
		fi
	done
done
if [ "${1:-}" = --update ]; then
	exit
elif RESCHED=$RESCHED python3 scripts/screens.py --check >"$dir/out" 2>&1; then
	echo 'ok the screens in README.md'
else
	cat "$dir/out"
	echo 'not ok the screens in README.md'
	status=1
fi
exit $status
