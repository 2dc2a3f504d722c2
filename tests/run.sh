#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Run every test that `make check` built, JOBS at a time, and count. Output goes to files and is printed in order.
#
# One language for all: lines `ok NAME`, `not ok NAME`, `skip NAME: reason`, and cmocka's TAP, which is nearly the same.
# A program that crashes, hangs, fails without saying what or prints no result counts as one failure.
# run.sh [PATTERN]: only jobs whose name matches the shell pattern.
set -u
cd "$(dirname "$0")/.." || exit 2

export BUILD=${BUILD:-build} VERSION=${VERSION:-0}
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}
LIMIT=${LIMIT:-1800}	# seconds for one program
only=${1:-*}
out=$BUILD/check
case $BUILD in /*) abs=$BUILD ;; *) abs=$PWD/$BUILD ;; esac
export RESCHED=${RESCHED:-$abs/resched} RESCHEDD=${RESCHEDD:-$abs/reschedd} WAKELOAD=${WAKELOAD:-$abs/wakeload}
export RESCHED_TOP=$PWD RESCHED_SHARED=${RESCHED_SHARED:-$PWD/../shared} CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8 TZ=UTC
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
[ -z "${SAN:-}" ] || export EVDUMP_CFLAGS=${EVDUMP_CFLAGS:--O1 -fsanitize=$SAN}	# a test that links the library itself
rm -rf "$out" && mkdir -p "$out" || exit 2

names=() commands=()
job() { # name, command line
	# shellcheck disable=SC2053 # a pattern is meant
	[[ $1 == $only ]] || return 0
	names+=("$1") commands+=("$2")
}

# A build whose log and status are already there, told as a test.
built() { # name, log, rc
	if [ "$(cat "$3" 2>/dev/null)" = 0 ] && ! grep -q 'warning:' "$2"; then echo "ok $1"; return; fi
	grep -E 'error|warning|undefined|\*\*\*' "$2" | grep -vE '^  [A-Z]+ ' | head -n 40
	echo "not ok $1"
}
export -f built

# ---- the jobs: long ones first

[ -n "${SAN:-}" ] || job lint/tidy "scripts/check-lint.sh tidy"
for f in tests/e2e/*.sh tests/e2e/*.py; do
	[ -e "$f" ] || continue
	case $f in *.py) run="python3 $f" ;; *) run="bash $f" ;; esac
	case ${f##*/} in _*|lib*|common*) continue ;; esac
	job "e2e/${f##*/}" "$run"
done
for kind in property vectors unit; do
	for src in tests/$kind/test_*.c; do
		[ -e "$src" ] || continue
		t=${src#tests/}
		t=${t%.c}
		job "$t" "$BUILD/tests/$t"
		[ -n "${SAN:-}" ] || job "$t (sanitized)" "$BUILD/san/tests/$t"
	done
done
if [ -z "${SAN:-}" ]; then
	# Memory that is read before it is written: what the sanitizers above do not see. Unit programs only, the others take too long.
	for src in tests/unit/test_*.c; do
		[ -e "$src" ] || continue
		t=${src#tests/}
		t=${t%.c}
		job "$t (valgrind)" "valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite $BUILD/tests/$t"
	done
	for cc in gcc clang; do
		job "build/werror-$cc" "built 'build without a warning, $cc' $BUILD/werror-$cc.log $BUILD/werror-$cc.rc"
	done
	job check/symbols scripts/check-symbols.sh
fi
compgen -G 'tests/golden/*.cmd' >/dev/null && job golden "bash tests/golden/run.sh"
job check/layers scripts/check-layers.sh
job check/headers scripts/check-headers.sh
job check/docs scripts/check-docs.sh
[ -n "${SAN:-}" ] || job lint/format "scripts/check-lint.sh format-check"
[ -n "${SAN:-}" ] || job lint/cppcheck "scripts/check-lint.sh cppcheck"

# ---- run: a few at a time, print in order

file() { # index
	printf '%s/%03d' "$out" "$1"
}

run_one() { # index
	local base rc
	base=$(file "$1")
	timeout -k 10 "$LIMIT" bash -c "${commands[$1]}" >"$base.out" 2>&1 </dev/null
	rc=$?
	echo "$rc" >"$base.rc.new"
	mv "$base.rc.new" "$base.rc"
}

# Normalise one job's output: counts into FILE.count, what a reader wants to see on standard output.
digest() { # index
	local base rc
	base=$(file "$1")
	rc=$(cat "$base.rc")
	awk -v name="${names[$1]}" -v rc="$rc" -v limit="$LIMIT" -v count="$base.count" '
		function show(line) { print "  " line }
		match($0, /(not )?ok [0-9]+ (- |# SKIP )/) && !/^#/ { $0 = substr($0, RSTART) }	# a test printed half a line before
		/^1\.\.[0-9]+$/ { planned += substr($0, 4); tap = 1; next }
		/^ok / { passed++; held = ""; next }
		/^not ok [0-9]* ?# SKIP/ {
			sub(/^not ok [0-9]* ?# SKIP */, "")
			n = split(held, line, "\n"); reason = n > 1 ? line[n - 1] : "no reason given"
			sub(/^[ \t]*(skip(ped)?[: ]*)?/, "", reason)
			show("skip " $0 ": " reason); skipped++; held = ""; next
		}
		/^not ok/ { failed++; printf "%s", held; show($0); held = ""; after = 1; next }
		/^skip / { show($0 ~ /: *[^ ]/ ? $0 : $0 ": no reason given"); skipped++; held = ""; next }
		/^# ok/ || /^# not ok/ { next }
		/^==[0-9]+==/ { tool = tool "    " $0 "\n"; next }	# valgrind, sanitizers
		/^# / && after { show($0); next }	# cmocka says why after the verdict
		{ after = 0; held = held "    " $0 "\n"; if (length(held) > 6000) held = substr(held, length(held) - 5000) }
		END {
			why = rc == 124 || rc == 137 ? "still running after " limit " s" : rc > 128 ? "died of signal " rc - 128 : \
			      rc > 0 && !failed ? "exit status " rc : passed + failed + skipped == 0 ? "printed no result" : \
			      tap && passed + failed + skipped < planned ? "stopped after " passed + failed + skipped " of " planned " tests" : ""
			if (why != "") { failed++; printf "%s%s", held, tool; show("not ok " name ": " why) }
			print passed + 0, failed + 0, skipped + 0 > count
		}' "$base.out"
}

# Print one job's verdict and add it to the sums.
tell() { # index, what to add to its name
	local text p f s
	text=$(digest "$1")
	read -r p f s <"$(file "$1").count"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-50s %s passed, %s failed, %s skipped\n' "${names[$1]}$2" "$p" "$f" "$s"
	[ -z "$text" ] || printf '%s\n' "$text"
	[ "$f" -eq 0 ]
}

total=${#names[@]}
next=0 printed=0 passed=0 failed=0 skipped=0
again=()
while [ "$printed" -lt "$total" ]; do
	while [ "$next" -lt "$total" ] && [ "$(jobs -rp | wc -l)" -lt "$JOBS" ]; do
		run_one "$next" 2>/dev/null &	# the shell would tell of every signal
		next=$((next + 1))
	done
	while [ "$printed" -lt "$next" ] && [ -e "$(file $printed).rc" ]; do
		tell "$printed" '' || [[ ${names[$printed]} != e2e/* && ${names[$printed]} != *valgrind* ]] || again+=("$printed")
		printed=$((printed + 1))
	done
	[ "$printed" -eq "$total" ] || wait -n 2>/dev/null
done

# An end-to-end program measures this very machine, and what runs beside it is part of that machine; under valgrind all takes its time. What failed so is run once more with
# nothing beside it; that verdict counts, and the first stays in sight. What is wrong in itself fails again.
for i in "${again[@]}"; do
	read -r p f s <"$(file "$i").count"
	passed=$((passed - p)) failed=$((failed - f)) skipped=$((skipped - s))
	mv "$(file "$i").out" "$(file "$i").first"
	run_one "$i" 2>/dev/null
	tell "$i" ', again, alone'
done

echo
[ "$failed" -eq 0 ] || echo "output of every program: $out"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
