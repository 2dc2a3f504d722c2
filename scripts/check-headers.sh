#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every header compiles alone; the public ones as C11 without extensions of ours, and as C++17.
set -u
cd "$(dirname "$0")/.." || exit 2

CC=${CC:-gcc} CXX=${CXX:-g++}
read -r -a flags <<<"${CPPFLAGS:-$(pkg-config --cflags libtraceevent libtracefs json-c libzstd zlib 2>/dev/null)}"
status=0

try() { # header, words for it, command…
	local header=$1 as=$2 text
	shift 2
	if text=$("$@" 2>&1); then
		echo "ok $header $as"
	else
		printf '%s\n' "$text"
		echo "not ok $header $as"
		status=1
	fi
}

for h in include/resched/*.h; do
	try "$h" 'as C11' "$CC" -std=c11 -Wall -Wextra -Werror -fsyntax-only -Iinclude -include "$h" -x c /dev/null
	try "$h" 'as C++17' "$CXX" -std=c++17 -Wall -Wextra -Werror -fsyntax-only -Iinclude -include "$h" -x c++ /dev/null
done
for h in src/*/*.h; do
	[ -e "$h" ] || continue
	try "$h" alone "$CC" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -Iinclude -Isrc "${flags[@]}" -include "$h" -x c /dev/null
done
exit $status
