#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# `make lint` as tests: check-lint.sh format-check|tidy|cppcheck. What clang's tools find differs from version to version,
# so only the one that the tree is kept clean with can fail it.
set -u
cd "$(dirname "$0")/.." || exit 2

VERSION_KEPT=14
target=${1:?usage: check-lint.sh format-check|tidy|cppcheck}

tool=clang-format
[ "$target" = tidy ] && tool=clang-tidy
if [ "$target" != cppcheck ]; then
	found=$($tool --version 2>/dev/null | grep -oE 'version [0-9]+' | grep -oE '[0-9]+' | head -n 1)
	if [ "${found:-0}" != $VERSION_KEPT ]; then
		echo "skip lint/$target: $tool is ${found:-missing}, the tree is kept clean with $VERSION_KEPT"
		exit 0
	fi
elif ! command -v cppcheck >/dev/null 2>&1; then
	echo "skip lint/$target: cppcheck is missing"
	exit 0
fi

said=$(make --no-print-directory BUILD="${BUILD:-build}" "$target" 2>&1)
rc=$?
if [ $rc -eq 0 ] && ! grep -qE '(warning|error):' <<<"$said"; then
	echo "ok lint/$target"
	exit 0
fi
printf '%s\n' "$said" | tail -n 60
echo "not ok lint/$target"
exit 1
