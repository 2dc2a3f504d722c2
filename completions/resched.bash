# SPDX-License-Identifier: GPL-2.0-only
# bash completion for resched and reschedd

_resched_options() { # command
	local whatif='--policy --model --feature --set --task --cgroup --placement --topology --seed'
	local select='--host --comm --pid --cpu --cgroup --time --hide-recorder'
	local print='--fail-if --json --csv --sort --color --no-pager --help'
	case $1 in
	record)   echo '--output --duration --event --pid --comm --cgroup --cpu --buffer --detail --truth --slower-than --max-size --rotate --min-free --cpu-budget --compress --anonymize --ring --keep --trigger --before --after --max-snapshots --backend --recover --help' ;;
	info)     echo '--host --workload --json --color --no-pager --help' ;;
	report)   echo "--by --style $select $print" ;;
	replay)   echo "--output --by --style $whatif $select $print" ;;
	sweep)    echo "--grid --output --launcher $whatif $select --csv --json --color --no-pager --help" ;;
	compare)  echo "$whatif $select $print" ;;
	outliers) echo "--top --over --why $whatif $select --json --color --no-pager --help" ;;
	ctl)      echo "--socket --before --after --last --report --top --comm $whatif --json --color --no-pager --help" ;;
	validate) echo '--mode --no-resync --shadow-only --policy --model --feature --set --host --json --color --no-pager --help' ;;
	explain)  echo "--at --cpu $whatif --host --json --color --no-pager --help" ;;
	export)   echo "--format --anonymize --output $whatif --host --comm --pid --cpu --time --help" ;;
	synth)    echo "--list --output --by --style $whatif $select $print" ;;
	tui)      echo '--live --ring --socket --keys --color --help' ;;
	policies) echo '--csv --json --color --no-pager --help' ;;
	topology) echo '--host --cpu --model --check --list --csv --json --color --no-pager --help' ;;
	*)        echo '--help --version' ;;
	esac
}

# The features or tunables of every policy, from the program itself.
_resched_knobs() { # feature|tunable
	local json
	json=$(resched policies --json 2>/dev/null) || return
	case $1 in
	feature) grep -oE '"name": ?"[A-Z][A-Z_]+"' <<<"$json" | cut -d'"' -f4 | sort -u | sed 'p;s/^/NO_/' ;;
	tunable) grep -oE '"name": ?"([a-z]+(_[a-z]+)+|hz|preempt)"' <<<"$json" | cut -d'"' -f4 | sort -u | sed 's/$/=/' ;;
	esac
}

_resched() {
	local cur prev command='' i
	local commands='record info report replay compare sweep outliers validate explain export synth tui ctl policies topology help'

	COMPREPLY=()
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) # what follows is a command of its own
			COMPREPLY=($(compgen -c -f -- "$cur"))
			return ;;
		-*) ;;
		*) [ -n "$command" ] || command=${COMP_WORDS[i]} ;;
		esac
	done

	case $prev in
	--policy)    COMPREPLY=($(compgen -W 'cfs eevdf evdf' -- "$cur")); return ;;
	--model)     COMPREPLY=($(compgen -W '4.18 5.4 5.10 5.15 6.1 6.6 6.8 6.12 6.18 stage-avg-vruntime
		stage-no-start-debit stage-lag eevdf-2023-03 stage-eevdf stage-commit-lag stage-commit-eevdf stage-mixed-slices
		eevdf-2023-05 eligibility-2023-10 queue-2023-10 delay-2024-04' -- "$cur")); return ;;
	--feature)   COMPREPLY=($(compgen -W "$(_resched_knobs feature)" -- "$cur")); return ;;
	--grid)      COMPREPLY=($(compgen -W "policy= model= feature= placement= seed= topology= task= cgroup= $(_resched_knobs tunable)" -- "$cur"))
		compopt -o nospace 2>/dev/null; return ;;
	--set)       COMPREPLY=($(compgen -W "$(_resched_knobs tunable)" -- "$cur")); compopt -o nospace 2>/dev/null; return ;;
	--placement) COMPREPLY=($(compgen -W 'recorded kernel' -- "$cur")); return ;;
	--color)     COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
	--detail)    COMPREPLY=($(compgen -W 'normal minimal precise truth' -- "$cur")); return ;;
	--backend)   COMPREPLY=($(compgen -W 'auto tracefs bpf' -- "$cur")); return ;;
	--mode)      COMPREPLY=($(compgen -W 'auto a b c' -- "$cur")); return ;;
	--format)    COMPREPLY=($(compgen -W 'perfetto csv json text html trace.dat workload rt-app' -- "$cur")); return ;;
	--report)    COMPREPLY=($(compgen -W 'compare report outliers' -- "$cur")); return ;;
	--by)        COMPREPLY=($(compgen -W 'comm task cpu cgroup container unit' -- "$cur")); return ;;
	--style)     COMPREPLY=($(compgen -W 'table perf schbench' -- "$cur")); return ;;
	--sort | -s) COMPREPLY=($(compgen -W 'delay runtime switches voluntary involuntary wakeups migrations unresolved avg mean p50 p90 p99 p999 max name pid' -- "$cur")); return ;;
	--pid | -p)  COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")); return ;;
	--event | --cpu | --buffer | --duration | --task | --seed | --comm | --cgroup | --time | --fail-if | --top | --over | --at | --before | --after | --last | --launcher | -j | -[eCdn]) return ;;
	--output | --host | --keys | --socket | -o | -i) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	esac

	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$(_resched_options "$command")" -- "$cur"))
	elif [ -z "$command" ]; then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	elif [ "$command" = help ]; then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	elif [ "$command" = ctl ]; then
		COMPREPLY=($(compgen -W 'status snapshots show snapshot whatif watch jobs cancel series metrics delete reload' -- "$cur"))
	elif [ "$command" = synth ]; then
		COMPREPLY=($(compgen -W "$(resched synth --list 2>/dev/null | sed -n 's/^\([a-z-]*\):.*/\1/p; s/^ .* \([a-z_-]*=\).*/\1/p')" -- "$cur"))
	elif [ "$command" = policies ]; then
		COMPREPLY=($(compgen -W 'cfs eevdf evdf' -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}

complete -o filenames -F _resched resched
complete -W '--config --check-config --list-keys --verbose --help --version' reschedd
