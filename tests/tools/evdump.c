// SPDX-License-Identifier: GPL-2.0-only
/*
 * evdump FILE            every decoded event, one line each
 * evdump -s FILE         source and warnings only, as key=value lines
 * evdump -b FILE         only call resched_trace_next(); events per second
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <resched/trace.h>

static const char *const type_names[RESCHED_EV_NR] = {
	[RESCHED_EV_SWITCH] = "switch", [RESCHED_EV_WAKING] = "waking", [RESCHED_EV_WAKEUP] = "wakeup",
	[RESCHED_EV_WAKEUP_NEW] = "wakeup_new", [RESCHED_EV_MIGRATE] = "migrate", [RESCHED_EV_FORK] = "fork",
	[RESCHED_EV_EXEC] = "exec", [RESCHED_EV_EXIT] = "exit", [RESCHED_EV_PRIO] = "prio", [RESCHED_EV_RUNTIME] = "runtime",
	[RESCHED_EV_COMM] = "comm", [RESCHED_EV_LOST] = "lost", [RESCHED_EV_OTHER] = "other", [RESCHED_EV_TRUTH] = "truth",
	[RESCHED_EV_IRQ] = "irq",
};

static void print_state(uint32_t state)
{
	static const struct { uint32_t bit; const char *letter; } letters[] = {
		{ RESCHED_STATE_S, "S" }, { RESCHED_STATE_D, "D" }, { RESCHED_STATE_T, "T" }, { RESCHED_STATE_t, "t" },
		{ RESCHED_STATE_X, "X" }, { RESCHED_STATE_Z, "Z" }, { RESCHED_STATE_P, "P" }, { RESCHED_STATE_I, "I" },
		{ RESCHED_STATE_OTHER, "?" },
	};
	const char *bar = "";

	printf(" state=");
	if (!(state & ~RESCHED_STATE_PREEMPT))
		printf("R");
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		if (state & letters[i].bit) {
			printf("%s%s", bar, letters[i].letter);
			bar = "|";
		}
	}
	printf("%s", state & RESCHED_STATE_PREEMPT ? "+" : "");
}

static void print_event(const struct resched_event *ev, const struct resched_names *names)
{
	printf("%llu.%09llu cpu=%u %s pid=%d ctx=%x", (unsigned long long)(ev->ts_ns / 1000000000),
	       (unsigned long long)(ev->ts_ns % 1000000000), ev->cpu, type_names[ev->type], ev->pid, ev->ctx);
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		printf(" prio=%d next=%d next_prio=%d", ev->sw.prev_prio, ev->sw.next_pid, ev->sw.next_prio);
		print_state(ev->sw.prev_state);
		break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		printf(" waker=%d prio=%d target=%u", ev->wake.waker_pid, ev->wake.prio, ev->wake.target_cpu);
		break;
	case RESCHED_EV_MIGRATE:
		printf(" prio=%d from=%u to=%u", ev->migrate.prio, ev->migrate.from_cpu, ev->migrate.to_cpu);
		break;
	case RESCHED_EV_FORK:
		printf(" child=%d", ev->fork.child_pid);
		break;
	case RESCHED_EV_PRIO:
		printf(" old=%d new=%d", ev->prio.old_prio, ev->prio.new_prio);
		break;
	case RESCHED_EV_RUNTIME:
		printf(" runtime=%llu vruntime=%llu", (unsigned long long)ev->runtime.runtime_ns,
		       (unsigned long long)ev->runtime.vruntime_ns);
		break;
	case RESCHED_EV_COMM:
		printf(" name=%s renamed=%u", resched_names_get(names, ev->comm.name), ev->comm.renamed);
		break;
	case RESCHED_EV_LOST:
		printf(" count=%llu", (unsigned long long)ev->lost.count);
		break;
	default:
		break;
	}
	printf("\n");
}

static void print_source(const struct resched_source *src, const struct resched_host *host)
{
	printf("format=%s\nkernel=%s\nclock=%s\n", src->format, src->kernel ? src->kernel : "-", src->clock ? src->clock : "-");
	printf("cpus=%u\nobserved=%u\ntotal=%llu\nlost=%llu\ngaps=%llu\ndamaged=%d\n", src->nr_cpus, src->nr_observed,
	       (unsigned long long)src->total_events, (unsigned long long)src->lost_events, (unsigned long long)src->lost_gaps, src->damaged);
	printf("first=%llu\nlast=%llu\n", (unsigned long long)src->first_ns, (unsigned long long)src->last_ns);
	for (unsigned int i = 0; i < src->nr_events; i++)
		printf("event.%s=%llu\n", src->events[i].name, (unsigned long long)src->events[i].count);
	for (unsigned int i = 0; i < src->nr_warnings; i++)
		printf("warning=%s\n", src->warnings[i]);
	if (host)
		printf("host.cpus=%u\nhost.tasks=%u\nhost.unknown=%u\n", host->nr_cpus, host->nr_tasks, host->nr_unknown);
}

int main(int argc, char **argv)
{
	char mode = argc == 3 && argv[1][0] == '-' && argv[1][1] ? argv[1][1] : 'e';
	const struct resched_event *ev;
	struct resched_error err = { 0 };
	struct resched_trace *trace;
	struct timespec start, end;
	unsigned long long n = 0;
	int rc;

	if (argc < 2 || resched_trace_open(argv[argc - 1], &trace, &err) < 0) {
		fprintf(stderr, "evdump: %s\n", argc < 2 ? "usage: evdump [-s|-b] FILE" : err.text);
		return argc < 2 ? RESCHED_USAGE : (int)err.kind;
	}
	if (getenv("EVDUMP_THREADS"))
		resched_trace_threads(trace, (int)strtol(getenv("EVDUMP_THREADS"), NULL, 10));
	clock_gettime(CLOCK_MONOTONIC, &start);
	while ((rc = resched_trace_next(trace, &ev, &err)) > 0) {
		n++;
		if (mode == 'e')
			print_event(ev, resched_trace_names(trace));
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (rc < 0)
		fprintf(stderr, "evdump: %s\n", err.text);
	if (mode == 's')
		print_source(resched_trace_source(trace), resched_trace_host(trace));
	if (mode == 'b') {
		double s = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;

		printf("%llu events in %.3f s: %.2f M events/s\n", n, s, (double)n / s / 1e6);
	}
	rc = rc < 0 ? RESCHED_FAILED : resched_trace_source(trace)->damaged ? RESCHED_DAMAGED : 0;
	resched_trace_free(trace);
	return rc;
}
