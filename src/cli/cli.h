/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line. A command is a const struct cli_command: a name, option groups, a run function. Options are tables; --help,
 * the parser and `help --dump-options` read the same lines, so an option means the same wherever it occurs.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <resched/analysis.h>
#include <resched/capture.h>
#include <resched/error.h>
#include <resched/replay.h>
#include <resched/report.h>
#include <resched/trace.h>

struct cli_texts { unsigned int nr; const char **items; };	/* borrowed texts */

/* What was asked for. Everything zero until an option sets it. */
struct cli_args {
	struct cli_texts words;		/* what is no option: files, names, the command to record */
	const char *input, *host;
	/* selection */
	struct { unsigned int nr; int *items; } pids;
	const char *cpus, *comm, *cgroup, *time;
	int hide_recorder;
	struct { unsigned int nr; int *items; } own;	/* not an option: the recorder's threads, learned while reading */
	/* output */
	int json, csv, no_pager, quiet, verbose, workload;
	int color, style, group;	/* index among the choices */
	const char *sort;
	uint64_t rows;
	bool rows_given;
	struct cli_texts fail_if;
	/* what-if */
	struct cli_texts policies, features, settings, tasks, cgroups;
	const char *model, *topology;
	int placement;
	uint64_t seed;
	/* validate, explain */
	int mode, no_resync, shadow_only;
	const char *at;
	uint64_t cpu;
	/* ctl; before and after: record too */
	const char *socket;
	uint64_t before_ns, after_ns, last_ns;
	int report;
	/* outliers */
	uint64_t top, over_ns;
	int why, live, anonymize;
	uint64_t ring_kb;
	/* topology */
	const char *check;
	int list;
	/* sweep */
	struct cli_texts grid;
	const char *launcher;
	uint64_t jobs;
	/* tui */
	const char *keys, *save;
	/* export */
	int format;
	/* record, replay, export */
	const char *output;
	struct cli_texts events, comms;
	uint64_t duration_ns, buffer_kb;
	int detail, backend, compress, truth;
	/* record into memory */
	struct cli_texts triggers;
	uint64_t keep_ns, max_snapshots;
	const char *recover, *cpu_budget;
	uint64_t max_kb, min_free_kb, slower_ns, rotate;
};

enum cli_kind {
	CLI_FLAG,	/* int, set to 1 */
	CLI_TEXT,	/* const char * */
	CLI_TEXTS,	/* struct cli_texts, appended */
	CLI_NUMBER,	/* uint64_t */
	CLI_PIDS,	/* pids, "1,2" appended */
	CLI_CHOICE,	/* int, index among the words of @arg */
	CLI_SECONDS,	/* uint64_t ns; a bare number is seconds */
	CLI_KB,		/* uint64_t kB; a bare number is kB */
};

struct cli_option {
	const char *name;	/* "--comm", NULL when only a letter */
	char letter;		/* 0 when only a name */
	const char *arg;	/* NULL for flags; "a|b|c" for choices */
	enum cli_kind kind;
	size_t offset;		/* in struct cli_args */
	const char *text;	/* one line of help */
};

struct cli_group { const char *title; unsigned int nr; const struct cli_option *options; };

struct cli_command {
	const char *name, *usage, *summary;
	const char *text;			/* paragraphs of --help; may be NULL */
	unsigned int nr_groups;
	const struct cli_group *groups[8];
	bool stops_at_word;			/* options end at the first word: what follows is a command to run */
	int (*run)(const struct cli_command *self, struct cli_args *args);
};

/* Groups that several commands have (options.c). */
extern const struct cli_group cli_input_options, cli_select_options, cli_output_options, cli_table_options, cli_gate_options,
	cli_whatif_options, cli_report_options;

extern const struct cli_command cli_record, cli_info, cli_report, cli_replay, cli_compare, cli_policies, cli_topology,
	cli_validate, cli_explain, cli_outliers, cli_export, cli_synth, cli_tui, cli_sweep, cli_ctl;

/* cli_parse() - read the options of @cmd. argv[0] is its name. Return: 0; -EINVAL, -ENOMEM with @err filled; 1: help was asked for. */
int cli_parse(const struct cli_command *cmd, int argc, char **argv, struct cli_args *args, struct resched_error *err);
void cli_args_release(struct cli_args *args);
void cli_print_help(FILE *out, const struct cli_command *cmd);
void cli_dump_options(FILE *out, const struct cli_command *cmd);

/* cli_fail() - one line on standard error. Return: the exit code. */
int cli_fail(const struct cli_command *cmd, const struct resched_error *err);
int cli_usage(const struct cli_command *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));	/* Return: 2 */
/* cli_no_stream() - a trace.dat is finished at its beginning, so "-" cannot take one. Return: 0; 2. */
int cli_no_stream(const struct cli_command *cmd, const char *output);
void cli_warn(const struct cli_command *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Standard output, through a pager on a terminal. */
struct cli_out { FILE *stream; pid_t pager; struct resched_print_options print; };
/* cli_out_open() - @default_rows: of text tables when -n was not given. Return: 0; an exit code. */
int cli_out_open(const struct cli_command *cmd, const struct cli_args *args, unsigned int default_rows, struct cli_out *ret);
/* cli_out_close() - waits for the pager. @code: exit code so far; @rc: of the printing, @err with it. Return: the exit code. */
int cli_out_close(const struct cli_command *cmd, struct cli_out *out, int code, int rc, const struct resched_error *err);

/* A file for results: written without a name beside its place and named when it is whole, so that what was there stays until then.
 * Pipes and devices are written as they are; "-" and NULL are standard output. */
struct cli_file { FILE *stream; const char *path; char *temporary; bool nameless; };
/* cli_file_open() - Return: 0; -errno with @err filled. */
int cli_file_open(const char *path, struct cli_file *ret, struct resched_error *err);
/* cli_file_close() - @keep: give it its name; else leave nothing behind. Return: 0; -errno with @err filled. */
int cli_file_close(struct cli_file *file, bool keep, struct resched_error *err);

/* cli_input() - the recording asked for: -i, the only word, or trace.dat. Return: NULL after telling why. */
const char *cli_input(const struct cli_command *cmd, const struct cli_args *args);
/* cli_warn_source() - a damaged recording's warnings, all in one line; with -v every recording's, a line each. Return: 3 when damaged, else 0. */
int cli_warn_source(const struct cli_command *cmd, const struct cli_args *args, const struct resched_source *source);
/* cli_fail_source() - as cli_fail(), for what failed because of what the recording holds: its damage is told in the same line. @source: NULL before it was opened. */
int cli_fail_source(const struct cli_command *cmd, const struct cli_args *args, const struct resched_source *source,
		    const struct resched_error *err);
/* cli_load_host() - snapshot of --host, NULL without one. Return: 0; an exit code. */
int cli_load_host(const struct cli_command *cmd, const struct cli_args *args, struct resched_host **ret);
/* cli_analysis() - an analysis with the selection of the options. Return: as resched_analysis_new(). */
/* cli_anonymize() - write @file, a recording of our own, anew with codes for its names. It stays as it was if that fails.
 * Return: 0; -errno. */
int cli_anonymize(const char *file, int compress, struct resched_error *err);

int cli_analysis(const struct cli_args *args, const struct resched_host *host, struct resched_names *names,
		 struct resched_analysis **ret, struct resched_error *err);
/* The same; @machine: another one that the schedule ran on, borrowed until finish; NULL = that of @host. */
int cli_analysis_on(const struct cli_args *args, const struct resched_host *host, const struct resched_host *machine,
		    struct resched_names *names, struct resched_analysis **ret, struct resched_error *err);
/* cli_window() - apply --time, now that the stamp of the first event is known. Return: 0; -EINVAL. */
int cli_window(const struct cli_args *args, uint64_t first_ns, struct resched_analysis *analysis, struct resched_error *err);
/* cli_time_window() - what --time means, absolute; without it 0 and 0: everything. Return: 0; -EINVAL. */
int cli_time_window(const struct cli_args *args, uint64_t first_ns, uint64_t *ret_from, uint64_t *ret_to, struct resched_error *err);

/* cli_seek() - read no more of @trace than --time wants, where that can be. *@ret_begin_ns: for struct cli_feed. Return: 0; -errno. */
int cli_seek(const struct cli_args *args, struct resched_trace *trace, uint64_t *ret_begin_ns, struct resched_error *err);

/* How far long work has come, on a terminal (progress.c). @what: "reading"; borrowed. */
struct cli_progress { const char *what; bool active, shown; uint64_t events, next_ns; };
void cli_progress_begin(struct cli_progress *p, const struct cli_args *args, const char *what);
void cli_progress_event(struct cli_progress *p);
void cli_progress_end(struct cli_progress *p);	/* also when it never began */

/* An analysis (NULL: none) that applies --time when the first event comes, and learns who the recorder is.
 * cli_feed() is a resched_event_fn. */
struct cli_feed {
	struct cli_args *args;
	struct resched_analysis *analysis;
	struct cli_progress progress;
	resched_event_fn also; void *also_ctx;	/* gets every event, too; may be NULL */
	uint64_t begin_ns;	/* of the recording; 0: that of the first event */
	bool started;
	bool figures; /* cli_load() makes the analysis where it reads a recording */
	struct resched_error err;
};
int cli_feed(void *feed, const struct resched_event *event);

/* A workload and where it is from (load.c): a recording, a workload or rt-app's JSON, told apart by content. */
enum cli_content { CLI_RECORDING = 0, CLI_WORKLOAD, CLI_RTAPP };
struct cli_load {
	enum cli_content content;
	struct resched_trace *trace;		/* of a recording */
	struct resched_workload *workload;
	const struct resched_source *source;
	struct resched_source made;		/* of the others */
};
enum cli_content cli_content(const char *file);
/* cli_load() - @feed: gets the events of a recording. Return: 0; -errno with @err filled. To cli_load_release() in any case. */
int cli_load(const struct cli_args *args, const char *file, const struct resched_host *host, struct cli_feed *feed, struct cli_load *ret,
	     struct resched_error *err);
/* cli_load_made() - the source of a workload that has no recording. */
void cli_load_made(struct cli_load *load, const char *file, const char *format);
void cli_load_release(struct cli_load *load);

/* cli_whatif() - what the options ask for, of the first policy. Borrows from @args. */
struct resched_whatif cli_whatif(const struct cli_args *args);

/* cli_run_whatif() - run @workload under @policy (NULL = the recorded kernel's) with the what-if and selection of the options.
 * Return: 0, @ret_report the caller's; what failed, @err with it. */
int cli_run_whatif(struct cli_args *args, const struct resched_workload *workload, const char *policy, struct resched_schedule *ret_schedule,
	       struct resched_report **ret_report, struct resched_error *err);

/* cli_run_self() - run it under the recorded kernel's own rules, unedited: what replays of this recording err by. Likewise. */
int cli_run_self(struct cli_args *args, const struct resched_workload *workload, struct resched_report **ret_report, struct resched_error *err);

/* cli_note_error() - add that error to the notes of @schedule. @feed: what cli_load() fed, with @figures. Return: 0; what failed. */
int cli_note_error(struct cli_args *args, const struct resched_workload *workload, struct cli_feed *feed, struct resched_schedule *schedule,
	     struct resched_error *err);

/* cli_run_whatif_also() - like cli_run_whatif(), and @also gets every event of the schedule. */
int cli_run_whatif_also(struct cli_args *args, const struct resched_workload *workload, const char *policy, resched_event_fn also, void *also_ctx,
			struct resched_schedule *ret_schedule, struct resched_report **ret_report, struct resched_error *err);

/* cli_replay_events() - the same, but the events of the schedule go to @sink and nothing is reported. */
int cli_replay_events(struct cli_args *args, const struct resched_workload *workload, const char *policy, resched_event_fn sink, void *sink_ctx,
		      struct resched_schedule *ret_schedule, struct resched_error *err);
/* cli_replay_lags() - the same, and @lag gets the samples of lag. */
int cli_replay_lags(struct cli_args *args, const struct resched_workload *workload, const char *policy, struct resched_analysis *lag,
		    resched_event_fn sink, void *sink_ctx, struct resched_schedule *ret_schedule, struct resched_error *err);

/* cli_read_report() - the report of a recording as it is. @ret_trace stays open for source and names. Return: 0; an exit code. */
int cli_read_report(const struct cli_command *cmd, struct cli_args *args, const char *file, const struct resched_host *host,
		    struct resched_trace **ret_trace, struct resched_report **ret_report);

/* cli_flight() - record into memory: @record as for a file, whose name is that of the snapshot at the end. Return: the exit code. */
int cli_flight(const struct cli_command *self, const struct cli_args *args, const struct resched_record_options *record);

/* cli_gate_check() - can every --fail-if be read? To know before the work. Return: 0; 2 after telling why. */
int cli_gate_check(const struct cli_command *cmd, const struct cli_args *args);
/* cli_gate() - judge every --fail-if. @columns[0] is the base of per cent. Return: 0; 5 when one was passed; 1, 2 after telling why. */
int cli_gate(const struct cli_command *cmd, const struct cli_args *args, unsigned int nr_columns, const struct resched_column *columns);

#endif
