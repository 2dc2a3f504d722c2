#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# NAME.cmd holds one command line for a shell at the top of the tree, with `resched` in its path; NAME.out what it prints on
# both outputs, and its exit status. --update rewrites NAME.out; a human reads the diff.
set -u
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export PATH=$BUILD:$PATH LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 COLUMNS=120
status=0

for cmd in tests/golden/*.cmd; do
	[ -e "$cmd" ] || continue
	name=${cmd%.cmd}
	out=$(bash "$cmd" 2>&1 </dev/null; echo "exit $?")
	if [ "${1:-}" = --update ]; then
		printf '%s\n' "$out" >"$name.out"
	elif diff=$(diff -u "$name.out" - <<<"$out" 2>&1); then
		echo "ok golden ${name##*/}"
	else
		printf '%s\n' "$diff" | head -n 60
		echo "not ok golden ${name##*/}"
		status=1
	fi
done
exit $status
