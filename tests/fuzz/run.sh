#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh SECONDS [afl]: every fuzz target for SECONDS each (default 60), on the corpus and on what earlier runs found in $BUILD/fuzz, with
# libFuzzer or AFL++. A finding lies in $BUILD/fuzz: mend it, and put the file into tests/fuzz/corpus.
set -u
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-build}
seconds=${1:-60}
status=0

# Findings of AFL++ are files in crashes and hangs. The sanitizers reserve more than any limit on memory.
run_afl() { # target
	local out=$BUILD/fuzz/afl-out/$1 log=$BUILD/fuzz/$1.afl.log from=tests/fuzz/corpus/$1 found
	[ ! -e "$out/default/fuzzer_stats" ] || from=-
	mkdir -p "$BUILD/fuzz/afl-out"
	AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0 \
		UBSAN_OPTIONS=abort_on_error=1:symbolize=0 afl-fuzz -V "$seconds" -m none -t 5000 -i "$from" -o "$out" -- "$BUILD/fuzz/afl/$1" >"$log" 2>&1
	found=$(find "$out/default/crashes" "$out/default/hangs" -name 'id*' 2>/dev/null | head -n 3)
	if [ -z "$found" ] && [ -e "$out/default/fuzzer_stats" ]; then
		echo "ok fuzz $1 with AFL++: $(awk '/^execs_done/ { print $3 }' "$out/default/fuzzer_stats") inputs"
	else
		printf '%s\n' "${found:-$(tail -n 3 "$log")}"
		echo "not ok fuzz $1 with AFL++ ($log)"
		status=1
	fi
}
for src in tests/fuzz/*.c; do
	name=$(basename "$src" .c)
	case $name in main | trace) continue ;; esac
	if [ "${2:-}" = afl ]; then
		run_afl "$name"
		continue
	fi
	mkdir -p "$BUILD/fuzz/found/$name"
	log=$BUILD/fuzz/$name.log
	if "$BUILD/fuzz/$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -malloc_limit_mb=256 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix="$BUILD/fuzz/$name-" "$BUILD/fuzz/found/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
		echo "ok fuzz $name: $(awk '/number_of_executed_units/ { print $2 }' "$log") inputs"
	else
		grep -E 'ERROR|SUMMARY|broken promise|Test unit written' "$log" | head -n 5
		echo "not ok fuzz $name ($log)"
		status=1
	fi
done
exit $status
