// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <resched/capture.h>
#include <resched/units.h>

static volatile sig_atomic_t stop_signal;	/* the one that came first; 0 none */

static void on_signal(int number)
{
	if (!stop_signal)
		stop_signal = number;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };	/* no SA_RESTART: a wait must end */

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static void tell_result(const struct cli_command *self, const char *file, const struct resched_record_result *r)
{
	char lost[64] = "none lost";

	if (r->lost_events)
		snprintf(lost, sizeof(lost), "LOST %llu: a larger --buffer keeps them", (unsigned long long)r->lost_events);
	fprintf(stderr, "%s: %llu events in %.2f s on %u cpus, %s\n", file, (unsigned long long)r->events, r->seconds, r->nr_cpus, lost);
	fprintf(stderr, "%.2f MB, %.1f bytes an event; the recorder itself used %.0f ms of cpu time", (double)r->bytes / 1e6,
		r->events ? (double)r->bytes / (double)r->events : 0, 1e3 * r->recorder_cpu_seconds);
	if (r->seconds >= 0.1)	/* below, setting up is all there is */
		fprintf(stderr, ", %.1f %% of one cpu", 100 * r->recorder_cpu_seconds / r->seconds);
	fputc('\n', stderr);
	if (r->backend_reason[0])
		fprintf(stderr, "backend %s: %s\n", r->backend, r->backend_reason);
	for (unsigned int i = 0; i < r->nr_warnings; i++)
		cli_warn(self, "%s", r->warnings[i]);
	fprintf(stderr, "next: resched report %s\n", file);
}

/* Like a shell: the command's own status, 128 + n when signal n ended it; ours when we were told to stop. */
static int exit_code(const struct resched_record_result *r)
{
	if (stop_signal)
		return 128 + stop_signal;
	if (WIFSIGNALED(r->command_status))
		return 128 + WTERMSIG(r->command_status);
	return WIFEXITED(r->command_status) ? WEXITSTATUS(r->command_status) : 0;
}

/* In the order of the choices of --detail: the default comes first. */
static const enum resched_detail details[] = {
	RESCHED_DETAIL_NORMAL, RESCHED_DETAIL_MINIMAL, RESCHED_DETAIL_PRECISE, RESCHED_DETAIL_TRUTH,
};

static void tell_started(void *ctx)
{
	(void)ctx;
	fputs("recording until Ctrl-C\n", stderr);
}

/* "1%", "0.5": per cent of one cpu. */
static bool read_budget(const char *text, double *ret)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(percent > 0 && percent <= 100))
		return false;
	*ret = percent / 100;
	return true;
}

static int recover(const struct cli_command *self, const struct cli_args *args)
{
	struct resched_error err = { 0 };
	uint64_t events = 0;
	int rc = resched_recover(args->recover, &events, &err);

	if (rc < 0)
		return cli_fail(self, &err);
	if (!args->quiet)
		fprintf(stderr, rc ? "%s: finished; %llu events\n" : "%s: nothing to do, it is finished; %llu events\n", args->recover,
			(unsigned long long)events);
	return 0;
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = args->output ? args->output : "trace.dat";
	struct resched_record_options opts = {
		.output = file, .nr_extra = args->events.nr, .extra = args->events.items,
		.nr_pids = args->pids.nr, .pids = args->pids.items, .cpus = args->cpus,
		.seconds = (double)args->duration_ns / 1e9, .detail = args->truth ? RESCHED_DETAIL_TRUTH : details[args->detail],
		.buffer_kb = args->buffer_kb, .argc = (int)args->words.nr, .argv = (char *const *)args->words.items,
		.nr_comms = args->comms.nr, .comms = args->comms.items, .nr_cgroups = args->cgroups.nr, .cgroups = args->cgroups.items,
		.slower_ns = args->slower_ns, .max_kb = args->max_kb, .min_free_kb = args->min_free_kb,
		.rotate = args->rotate > UINT32_MAX ? UINT32_MAX : (unsigned int)args->rotate, .drop_caps = 1,
		.stop = &stop_signal, .compress = args->compress, .backend = (enum resched_backend)args->backend,
	};
	struct resched_record_result *result;
	struct resched_error err = { 0 };
	char **argv;
	int rc, code;

	if (args->recover)
		return recover(self, args);
	if (cli_no_stream(self, file))
		return RESCHED_USAGE;
	if (args->anonymize && args->rotate)
		return cli_usage(self, "--anonymize writes one recording anew; with --rotate use 'resched export --anonymize' on each file");
	if (args->anonymize && args->events.nr)
		return cli_usage(self, "with --anonymize only scheduling events are kept; leave out -e");
	if (args->cpu_budget && !read_budget(args->cpu_budget, &opts.cpu_budget))
		return cli_usage(self, "bad --cpu-budget '%s'; give a part of one cpu, as in 1%% or 0.5%%", args->cpu_budget);
	result = calloc(1, sizeof(*result));
	argv = calloc(args->words.nr + 1u, sizeof(*argv));	/* execvp() wants a NULL at the end */
	if (!result || !argv) {
		free(result);
		free(argv);
		return cli_fail(self, &(struct resched_error){ RESCHED_FAILED, "out of memory" });
	}
	for (unsigned int i = 0; i < args->words.nr; i++)
		argv[i] = (char *)args->words.items[i];
	opts.argv = argv;
	catch_signals();
	if (args->ring_kb || args->keep_ns || args->triggers.nr) {
		code = cli_flight(self, args, &opts);
		free(argv);
		free(result);
		return code;
	}
	if (!args->words.nr && !args->duration_ns && !args->quiet)
		opts.started = tell_started;
	rc = resched_record(&opts, result, &err);
	if (rc >= 0 && args->anonymize)
		rc = cli_anonymize(file, args->compress, &err);
	if (rc < 0) {
		code = cli_fail(self, &err);
	} else {
		if (!args->quiet)
			tell_result(self, file, result);
		code = exit_code(result);
	}
	free(argv);
	free(result);
	return code;
}

#define AT(member) offsetof(struct cli_args, member)
static const struct cli_option own[] = {
	{ "--output", 'o', "FILE", CLI_TEXT, AT(output), "the recording (default: trace.dat)" },
	{ "--duration", 'd', "SECONDS", CLI_SECONDS, AT(duration_ns), "stop after this time: 2, 500ms (default: when COMMAND ends, or Ctrl-C)" },
	{ "--event", 'e', "EVENT", CLI_TEXTS, AT(events), "more events: irq, timer, SYSTEM:EVENT; repeat for several" },
	{ "--pid", 'p', "PID[,PID]", CLI_PIDS, AT(pids), "only these processes, all their threads and what they fork, or threads" },
	{ "--comm", 0, "GLOB", CLI_TEXTS, AT(comms), "only tasks of that name, and what they fork; repeat for several" },
	{ "--cgroup", 0, "PATH", CLI_TEXTS, AT(cgroups), "only tasks of that cgroup and those in it; repeat for several" },
	{ "--cpu", 'C', "LIST", CLI_TEXT, AT(cpus), "only these cpus" },
	{ "--buffer", 0, "SIZE", CLI_KB, AT(buffer_kb), "buffer of each cpu in the kernel: 512K, 4M" },
	{ "--detail", 0, "normal|minimal|precise|truth", CLI_CHOICE, AT(detail), "how much: minimal lacks run times; truth adds the kernel's own vruntime, lag, V" },
	{ "--truth", 0, NULL, CLI_FLAG, AT(truth), "the same as --detail truth" },
	{ "--slower-than", 0, "TIME", CLI_SECONDS, AT(slower_ns), "only wakeups that waited as long, 5ms, and what ran there meanwhile" },
	{ "--max-size", 0, "SIZE", CLI_KB, AT(max_kb), "stop before the file grows beyond: 100M" },
	{ "--rotate", 0, "NUMBER", CLI_NUMBER, AT(rotate), "go on in a new file instead, and keep the last so many: FILE, FILE.1, FILE.2 ..." },
	{ "--min-free", 0, "SIZE", CLI_KB, AT(min_free_kb), "stop when the disk has less (default: a 20th of it, at most 64M)" },
	{ "--cpu-budget", 0, "PERCENT", CLI_TEXT, AT(cpu_budget), "of one cpu for the recorder: 1%; beyond it records less, then stops" },
	{ "--compress", 0, NULL, CLI_FLAG, AT(compress), "compress the file with zstd" },
	{ "--anonymize", 0, NULL, CLI_FLAG, AT(anonymize), "codes in place of the names of tasks and cgroups; no command lines" },
	{ "--backend", 0, "auto|tracefs|bpf", CLI_CHOICE, AT(backend), "how to record (default: auto, the cheapest that can give what is asked)" },
	{ "--recover", 0, "FILE", CLI_TEXT, AT(recover), "record nothing: finish a file whose recorder was killed" },
	{ NULL, 'q', NULL, CLI_FLAG, AT(quiet), "print nothing but errors" },
	{ NULL, 'v', NULL, CLI_FLAG, AT(verbose), "more about what was done" },
};
static const struct cli_option memory[] = {
	{ "--ring", 0, "SIZE", CLI_KB, AT(ring_kb), "record into so much memory, the newest of all cpus; to disk go snapshots: 64M" },
	{ "--keep", 0, "TIME", CLI_SECONDS, AT(keep_ns), "record into memory and drop what is older: 30s" },
	{ "--trigger", 0, "RULE", CLI_TEXTS, AT(triggers), "snapshot when it holds: 'run_delay comm=nginx* > 5ms', 'psi_cpu > 150ms/2s'; repeat" },
	{ "--before", 0, "TIME", CLI_SECONDS, AT(before_ns), "how long before (default: 2s before a trigger, else all that is kept)" },
	{ "--after", 0, "TIME", CLI_SECONDS, AT(after_ns), "how long after a trigger (default: 500ms)" },
	{ "--max-snapshots", 0, "NUMBER", CLI_NUMBER, AT(max_snapshots), "end after so many" },
};
static const struct cli_group memory_group = { "Flight recorder", sizeof(memory) / sizeof(memory[0]), memory };
static const struct cli_group own_group = { "Record", sizeof(own) / sizeof(own[0]), own };

const struct cli_command cli_record = {
	.name = "record", .usage = "record [OPTIONS] [--] [COMMAND [ARGUMENTS]]", .summary = "Record the scheduler on this machine",
	.text = "Records while COMMAND runs and exits with its status; without one for the time of -d, or until Ctrl-C.\n",
	.nr_groups = 2, .groups = { &own_group, &memory_group }, .stops_at_word = true, .run = run,
};
