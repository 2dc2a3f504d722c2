#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# `make install` puts everything in place, a program can be built against it, and `make uninstall` leaves nothing.
set -u
cd "$(dirname "$0")/../.." || exit 2

BUILD=${BUILD:-build}
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
status=0
verdict() { # name, rc, text when it failed
	if [ "$2" -eq 0 ]; then
		echo "ok $1"
	else
		printf '%s\n' "$3"
		echo "not ok $1"
		status=1
	fi
}

# The variables of the make that runs the tests come along in MAKEFLAGS; its job server does not.
flags=$(sed -E 's/ *(-j[0-9]*|--jobserver-[a-z]+=[^ ]+)//g' <<<"${MAKEFLAGS:-}")
run_make() {
	MAKEFLAGS="$flags" make -s BUILD="$BUILD" SAN="${SAN:-}" PREFIX=/usr DESTDIR="$dir/root" "$@" 2>&1
}

text=$(run_make install)
verdict 'make install' $? "$text"
root=$dir/root/usr
missing=$(for f in bin/resched sbin/reschedd lib/systemd/system/reschedd.service lib/systemd/system/reschedd.socket lib/sysusers.d/resched.conf lib/libresched.a lib/libresched.so lib/pkgconfig/resched.pc include/resched/event.h \
	share/man/man1/resched.1 share/man/man1/resched-report.1 share/man/man8/reschedd.8 share/bash-completion/completions/resched; do
	[ -e "$root/$f" ] || echo "not installed: $f"
done)
verdict 'everything is in place' "${#missing}" "$missing"

text=$("$root/bin/resched" --version 2>&1)
verdict 'the installed program runs' $? "$text"

if [ -n "${SAN:-}" ]; then
	echo 'skip a program built against the library: the library is instrumented'
else
	cat >"$dir/user.c" <<-'END'
	#include <stdio.h>
	#include <resched/policy.h>
	#include <resched/trace.h>
	int main(int argc, char **argv)
	{
		struct resched_error err;
		struct resched_trace *trace;

		if (argc < 2 || resched_trace_open(argv[1], &trace, &err) < 0)
			return 1;
		printf("%u %s\n", resched_trace_source(trace)->nr_cpus, resched_policy_get(0)->name);
		resched_trace_free(trace);
		return 0;
	}
	END
	export PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dir/root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
	# shellcheck disable=SC2046 # words are meant
	text=$(gcc -Wall -Werror "$dir/user.c" -o "$dir/user" $(pkg-config --cflags --libs resched) 2>&1)
	verdict 'a program builds with the flags of resched.pc' $? "$text"
	text=$(LD_LIBRARY_PATH=$root/lib "$dir/user" tests/data/lab-v7-k612-2c.dat 2>&1)
	[[ $text == "2 "* ]]
	verdict 'and runs with the shared library' $? "it printed: $text"
fi

# What the shell would offer after: resched report --st<TAB>, resched re<TAB>, resched replay --policy e<TAB>
complete_words() {
	bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _resched; echo "${COMPREPLY[*]}"' - \
		"$root/share/bash-completion/completions/resched" "$@" 2>&1
}
got=$(complete_words resched report --st; complete_words resched re; complete_words resched replay --policy e)
[ "$got" = $'--style\nrecord report replay\neevdf evdf' ]
verdict 'completion' $? "$got"

text=$(run_make uninstall)
verdict 'make uninstall' $? "$text"
left=$(find "$dir/root" ! -type d)
verdict 'nothing is left behind' "${#left}" "$left"
exit $status
