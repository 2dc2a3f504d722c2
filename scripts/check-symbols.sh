#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What the library exports, and that nothing in it is writable after loading: two runs in two threads share nothing.
# Programs may keep one volatile sig_atomic_t for their signal handler.
set -u
cd "$(dirname "$0")/.." || exit 2

BUILD=${BUILD:-build}
. scripts/verdict.sh

# name and size of every object in a writable section (.data.rel.ro is not, once loaded)
writable() { # object files or archives
	objdump -t "$@" 2>/dev/null | awk '
		/file format/ { file = $1; sub(/:$/, "", file) }
		{ for (i = 1; i < NF; i++)
			if ($i ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*|\.lbss|\.ldata)/ && $i !~ /^\.data\.rel\.ro/ && $NF != $i && $(NF - 1) !~ /^0+$/) {
				print file, $NF, $(NF - 1); next } }'
}

verdict 'libresched.so exports resched_* only' "$(nm -D --defined-only "$BUILD/libresched.so" | awk '$2 != "A" && $NF !~ /^resched_/')"
verdict 'libresched.so exports every public function' "$(
	exported=$(nm -D --defined-only "$BUILD/libresched.so" | awk '{ sub(/@.*/, "", $NF); print $NF }')
	sed -e 's://.*::' -e '/static inline/,/^}/d' include/resched/*.h | grep -oE '\bresched_[a-z0-9_]+\(' | tr -d '(' | sort -u |
	while read -r f; do
		grep -qE "^[a-z].*[ *]$f\(" include/resched/*.h || continue
		grep -qE "typedef .*\*$f\b|^static inline .*$f\(" include/resched/*.h && continue
		printf '%s\n' "$exported" | grep -qx "$f" || echo "$f: declared in include/resched, not in the library"
	done)"
verdict 'no writable data in the library' "$(writable "$BUILD/libresched.a")"
for program in cli daemon; do
	compgen -G "$BUILD/obj/src/$program/*.o" >/dev/null || continue
	found=$(writable "$BUILD/obj/src/$program"/*.o)
	verdict "writable data in src/$program: one sig_atomic_t at most" "$(printf '%s\n' "$found" | awk 'NF && (++n > 1 || $3 !~ /^0*4$/)')"
done
exit $status
