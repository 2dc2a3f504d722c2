// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of a replay goes: reading the events, rebuilding the workload of them, running it, and making the report. In one process,
 * processor time, the best of several rounds. Prints one line of JSON. Usage: phases FILE POLICY TOPOLOGY
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <resched/analysis.h>
#include <resched/replay.h>
#include <resched/trace.h>

#define ROUNDS 3

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const struct resched_error *err)
{
	fprintf(stderr, "phases: %s\n", err->text);
	exit(1);
}

static int ignore(void *ctx, const struct resched_event *event)
{
	(void)event;
	++*(uint64_t *)ctx;
	return 0;
}

static void keep_least(double *least, double value)
{
	if (!*least || value < *least)
		*least = value;
}

/* Reads all events. Return: how many. */
static uint64_t read_all(const char *file)
{
	const struct resched_event *event;
	struct resched_error err = { 0 };
	struct resched_trace *trace;
	uint64_t nr = 0;
	int rc;

	if (resched_trace_open(file, &trace, &err) < 0)
		die(&err);
	while ((rc = resched_trace_next(trace, &event, &err)) > 0)
		nr++;
	if (rc < 0)
		die(&err);
	resched_trace_free(trace);
	return nr;
}

int main(int argc, char **argv)
{
	double read = 0, rebuild = 0, run = 0, report = 0;
	uint64_t nr = 0, replayed = 0;

	if (argc != 4)
		return 2;
	for (int round = 0; round < ROUNDS; round++) {
		struct resched_whatif whatif = { .policy = argv[2], .topology = argv[3], .placement = RESCHED_PLACE_KERNEL };
		struct resched_analysis_options opts = { 0 };
		struct resched_workload *workload;
		struct resched_analysis *analysis;
		struct resched_schedule schedule;
		struct resched_error err = { 0 };
		struct resched_report *made;
		struct resched_trace *trace;
		double begin = now_s(), took;

		nr = read_all(argv[1]);
		keep_least(&read, now_s() - begin);
		begin = now_s();
		if (resched_trace_open(argv[1], &trace, &err) < 0 || resched_workload_build(trace, NULL, NULL, NULL, &workload, &err) < 0)
			die(&err);
		resched_trace_free(trace);
		keep_least(&rebuild, now_s() - begin);
		begin = now_s();
		replayed = 0;
		if (resched_replay_run(workload, &whatif, ignore, &replayed, NULL, &schedule, &err) < 0)
			die(&err);
		took = now_s() - begin;
		keep_least(&run, took);
		begin = now_s();
		opts.host = resched_workload_host(workload);
		opts.names = resched_workload_names(workload);
		if (resched_analysis_new(&opts, &analysis, &err) < 0 ||
		    resched_replay_run(workload, &whatif, resched_analysis_event, analysis, NULL, &schedule, &err) < 0 ||
		    resched_analysis_finish(analysis, &made, &err) < 0)
			die(&err);
		keep_least(&report, now_s() - begin);
		resched_analysis_free(analysis);
		resched_report_free(made);
		resched_workload_free(workload);
	}
	printf("{\"events\": %llu, \"replayed\": %llu, \"read_s\": %.4f, \"rebuild_s\": %.4f, \"run_s\": %.4f, \"report_s\": %.4f}\n",
	       (unsigned long long)nr, (unsigned long long)replayed, read, rebuild > read ? rebuild - read : 0, run,
	       report > run ? report - run : 0);
	return 0;
}
