#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Man pages, completion and README against what the programs say of themselves: `resched help --dump-options` prints
# the option tables as lines of COMMAND, OPTION, ARGUMENT and TEXT with tabs between.
set -u
cd "$(dirname "$0")/.." || exit 2

BUILD=${BUILD:-build}
RESCHED=${RESCHED:-$BUILD/resched}
. scripts/verdict.sh

if command -v mandoc >/dev/null 2>&1; then
	verdict 'man pages are clean under mandoc -Tlint' "$(mandoc -Tlint -Wwarning man/*.[1-8] 2>&1 | grep -v 'outdated mandoc.db')"
else
	echo 'skip man pages under mandoc -Tlint: mandoc is not installed'
fi
verdict 'every man page has the sections it needs' "$(for page in man/*.[1-8]; do
	for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES; do
		case $page:$section in *.5:EXIT*) continue ;; esac	# a format has none
		grep -q "^\.Sh $section\$" "$page" || echo "$page: no section $section"
	done
done)"

dump=$("$RESCHED" help --dump-options 2>/dev/null)
if [ -z "$dump" ]; then
	echo "not ok option tables: '$RESCHED help --dump-options' printed nothing"
	exit 1
fi
commands=$(printf '%s\n' "$dump" | cut -f1 | sort -u)

page_of() { # command
	case $1 in resched | help) echo man/resched.1 ;; *) echo "man/resched-$1.1" ;; esac
}

# In mdoc -p is "Fl p" and --policy is "Fl -policy".
documented() { # page, option
	grep -qE "(^\.|[[:space:]])Fl ([^ ]+ )*${2#-}([[:space:]]|\$)" "$1"
}

verdict 'every subcommand has a man page' "$(for c in $commands; do
	[ -e "$(page_of "$c")" ] || echo "$(page_of "$c"): missing"
done)"
verdict 'every option is in its man page' "$(printf '%s\n' "$dump" | cut -f1,2 | while IFS=$'\t' read -r c names; do
	page=$(page_of "$c")
	[ -e "$page" ] || continue
	for o in ${names//,/ }; do
		case $o in -*) documented "$page" "$o" || echo "$page: $o is not there" ;; esac
	done
done)"
verdict 'every option and subcommand is in the completion' "$(
	for c in $commands; do
		case $c in resched) continue ;; esac
		grep -qwF -- "$c" completions/resched.bash || echo "completions/resched.bash: $c is not there"
	done
	printf '%s\n' "$dump" | cut -f2 | tr ', ' '\n\n' | grep '^--' | sort -u | while read -r o; do
		grep -qE -- "(^|[^a-z-])$o([^a-z-]|\$)" completions/resched.bash || echo "completions/resched.bash: $o is not there"
	done)"
# The examples of the manual, on a recording that is part of the tree; those for root ("# resched record") are left to other tests.
example=tests/data/host-6.18.dat
tried() {
	local dir line rc text top=$PWD
	dir=$(mktemp -d) || return
	for name in host before after; do
		ln -s "$top/$example" "$dir/$name.dat"
	done
	case $RESCHED in /*) ln -s "$RESCHED" "$dir/resched" ;; *) ln -s "$top/$RESCHED" "$dir/resched" ;; esac
	grep -h '^\$ resched ' man/*.1 | sed -e 's/^\$ //' -e 's| /tmp/| |g' -e 's/ | jq .*//' | sort -u | while IFS= read -r line; do
		text=$(cd "$dir" && PATH=$dir:$PATH bash -c "$line" 2>&1 >/dev/null </dev/null)
		rc=$?
		[ $rc -eq 0 ] || printf '%s\n  exit %s: %s\n' "$line" $rc "$text"
	done
	rm -rf "$dir"
}
if [ -e "$example" ]; then
	verdict 'every example of the manual works' "$(tried)"
else
	echo "skip every example of the manual works: $example is not there"
fi
verdict 'README names only what exists' "$(
	grep -ohE '\bresched [a-z]+[^|`]*' README.md | sed 's/[#].*//' | while read -r _ c rest; do
		case $c in is | records | does | re-runs | reads | has | to | and | on | in | the | can | cannot | needs | prints | or | was | run | itself) continue ;; esac
		printf '%s\n' "$commands" | grep -qx "$c" || { echo "README.md: there is no 'resched $c'"; continue; }
		rest=${rest%% -- *}
		for word in $rest; do
			o=${word%%=*}
			case $o in
			--[a-z]*) printf '%s\n' "$dump" | awk -F'\t' -v c="$c" '$1 == c || $1 == "resched" { print $2 }' | tr ', ' '\n\n' |
				grep -qxF -- "$o" || echo "README.md: 'resched $c' has no $o" ;;
			esac
		done
	done)"
exit $status
