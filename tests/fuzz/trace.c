// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <resched/trace.h>

static void require(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "broken promise: %s\n", what);
	abort();
}

static void read_all(struct resched_trace *trace)
{
	const struct resched_source *source = resched_trace_source(trace);
	struct resched_names *names = resched_trace_names(trace);
	struct resched_error err = { 0 };
	const struct resched_event *ev;
	uint64_t last = 0;
	size_t texts = 0;
	int rc;

	while ((rc = resched_trace_next(trace, &ev, &err)) > 0) {
		require(ev->ts_ns >= last, "time never goes back");
		require(ev->type > 0 && ev->type < RESCHED_EV_NR, "every event has a type");
		last = ev->ts_ns;
		if (ev->type == RESCHED_EV_COMM)
			texts += strlen(resched_names_get(names, ev->comm.name));
	}
	require(rc == 0 || *err.text, "a failure is told");
	for (unsigned int i = 0; i < source->nr_warnings; i++)
		texts += strlen(source->warnings[i]);
	for (unsigned int i = 0; i < source->nr_events; i++)
		texts += strlen(source->events[i].name);
	require(texts < SIZE_MAX, "texts end");
}

int fuzz_trace(const uint8_t *data, size_t size)
{
	struct resched_trace *trace = NULL;
	struct resched_error err = { 0 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (resched_trace_open(path, &trace, &err) == 0)
		read_all(trace);
	else
		require(err.kind != 0 && *err.text, "a refusal is told");
	resched_trace_free(trace);
	close(fd);
	return 0;
}
