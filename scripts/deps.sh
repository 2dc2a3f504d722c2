#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Install what is missing, with one apt-get call and the list printed; silent when nothing is missing.
# deps.sh [build|check|lint|bench]: check adds to build what the tests need, lint and bench what those need.
# Where apt-get is not to be had, or not permitted, it prints the packages and fails.
set -u

what=${1:-check}
PATH=$PATH:/usr/sbin:/sbin	# where bpftool is

# package|how to see that it is there: cmd:PROGRAM, pc:PKG-CONFIG-NAME, hdr:HEADER
build='gcc|cmd:gcc
libc6-dev|hdr:stdio.h
make|cmd:make
pkg-config|cmd:pkg-config
libtraceevent-dev|pc:libtraceevent
libtracefs-dev|pc:libtracefs
libjson-c-dev|pc:json-c
libzstd-dev|pc:libzstd
zlib1g-dev|pc:zlib
liblzma-dev|pc:liblzma
libncurses-dev|pc:ncursesw
libinih-dev|pc:inih
libsystemd-dev|pc:libsystemd
libseccomp-dev|pc:libseccomp
clang|cmd:clang
bpftool|cmd:bpftool
libbpf-dev|pc:libbpf
libhwloc-dev|pc:hwloc'
check='g++|cmd:g++
libcmocka-dev|pc:cmocka
valgrind|cmd:valgrind
mandoc|cmd:mandoc
python3|py:json
trace-cmd|cmd:trace-cmd
procps|cmd:ps
tmux|cmd:tmux'
# guests for tests/lab
[ "$(uname -m)" = x86_64 ] && check+=$'\nqemu-system-x86|cmd:qemu-system-x86_64'
lint='clang|cmd:clang
clang-tidy|cmd:clang-tidy
clang-format|cmd:clang-format
cppcheck|cmd:cppcheck
python3|py:difflib'
bench='python3|py:json
trace-cmd|cmd:trace-cmd
time|cmd:/usr/bin/time
linux-perf|cmd:perf'

# shellcheck source=/dev/null
id=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${ID_LIKE:-}")
case " $id " in *' ubuntu '*) bench=${bench/linux-perf/linux-tools-generic} ;; esac

case $what in
build) list=$build ;;
check) list=$build$'\n'$check$'\n'$lint ;;
lint)  list=$lint ;;
bench) list=$build$'\n'$bench ;;
*) echo "usage: deps.sh [build|check|lint|bench]" >&2; exit 2 ;;
esac

there() { # probe
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
	pc:*)  pkg-config --exists "${1#pc:}" >/dev/null 2>&1 ;;
	hdr:*) echo "#include <${1#hdr:}>" | gcc -E -xc - >/dev/null 2>&1 ;;
	py:*)  python3 -c "import ${1#py:}" >/dev/null 2>&1 ;;
	esac
}

missing=()
while IFS='|' read -r package probe; do
	there "$probe" || missing+=("$package")
done < <(sort -u <<<"$list")
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "missing, please install (names of Debian's packages): ${missing[*]}" >&2
	exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "missing, please install as root: apt-get install ${missing[*]}" >&2
		exit 1
	fi
	as_root=(sudo)
fi

echo "installing what is missing: ${missing[*]}"
install() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1
}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
# A fresh system has no package lists, an old one stale ones; only then are they fetched.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1 || ! install; then
	"${as_root[@]}" apt-get update -q </dev/null >"$log" 2>&1 && install || {
		tail -n 20 "$log" >&2
		echo "apt-get could not install: ${missing[*]}" >&2
		exit 1
	}
fi
