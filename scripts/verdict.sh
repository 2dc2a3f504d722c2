# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the checks: a line of verdict for each thing looked at; $status is what to exit with.
status=0
verdict() { # name, offending lines
	if [ -z "$2" ]; then
		echo "ok $1"
	else
		printf '%s\n' "$2"
		echo "not ok $1"
		status=1
	fi
}
