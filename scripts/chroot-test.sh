#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Both commands of the README in a fresh Debian: chroot-test.sh DIRECTORY [TARGET…], as root. DIRECTORY must not exist yet and
# needs 2 GB; the mirror is that of this machine's apt (or $MIRROR). The clone inside holds what is committed.
set -eu
cd "$(dirname "$0")/.."

root=${1:?usage: chroot-test.sh DIRECTORY [TARGET…]}
shift
targets=("$@")
[ $# -gt 0 ] || targets=(demo check)
[ "$(id -u)" -eq 0 ] || { echo 'chroot-test.sh: must be root' >&2; exit 1; }
[ ! -e "$root" ] || { echo "chroot-test.sh: $root exists" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo 'chroot-test.sh: install debootstrap' >&2; exit 1; }

mirror=${MIRROR:-$(grep -hoE '(https?|file)://[^] ]*debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 || true)}
mirror=${mirror%% *}
debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" ${mirror:+"$mirror"}
# How this machine reaches the mirror holds inside too.
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true

mounts=()
cleanup() {
	local i
	for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
		umount -R -l "${mounts[i]}" || true
	done
}
trap cleanup EXIT
bind() { # what, where
	mkdir -p "$root$2"
	case $1 in
	proc | sysfs) mount -t "$1" "$1" "$root$2" ;;
	*) mount --rbind "$1" "$root$2" && mount --make-rslave "$root$2" ;;
	esac
	mounts+=("$root$2")
}
bind proc /proc
bind sysfs /sys
bind /dev /dev

git clone -q --no-hardlinks . "$root/root/resched"
status=0
for target in "${targets[@]}"; do
	echo "=== make $target"
	start=$SECONDS
	chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
		sh -c 'cd /root/resched && exec make "$1"' sh "$target" </dev/null || status=1
	echo "=== make $target took $((SECONDS - start)) s, status $status"
done
exit $status
