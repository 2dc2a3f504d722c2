// SPDX-License-Identifier: GPL-2.0-only
/* Reading less than all, and on several cpus. */
#include "trace/trace_state.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

uint64_t resched_trace_begin_ns(const struct resched_trace *t)
{
	return t->any ? t->source.first_ns : t->nr_heap ? t->heap[0]->next->ev.ts_ns : 0;
}

#define SEEK_LEAD_NS 1000000000ull	/* read before a window: most of what runs and waits in it was switched and woken since */
#define SEEK_MIN_BYTES (4u << 20)	/* leaving out less is not worth what is then not known */
#define SEEK_PACKED 8u			/* a compressed byte is about so many */

/* Where each cpu's data of the window begins. Return: bytes that need not be read; *@ret: the caller's; 0: read all. */
static uint64_t find_window(struct resched_trace *t, uint64_t from_ns, uint64_t to_ns, struct rs_place **ret)
{
	struct rs_place *places = calloc(t->nr_streams, sizeof(*places)), end;
	uint64_t spared = 0;
	int rc = places ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < t->nr_streams && rc == 0; i++) {
		const struct rs_dat_cpu *cpu = &t->buf->cpus[i];

		places[i].pos = cpu->off;
		if (!cpu->size)
			continue;
		rc = rs_seek(&t->shared, cpu, from_ns > SEEK_LEAD_NS ? from_ns - SEEK_LEAD_NS : 0, &places[i]);
		spared += places[i].pos - cpu->off;
		if (rc == 0 && to_ns)
			rc = rs_seek(&t->shared, cpu, to_ns, &end);
		if (rc == 0 && to_ns)
			spared += cpu->off + cpu->size - end.pos;
	}
	if (rc < 0)
		spared = 0;
	if (t->shared.codec != RS_CODEC_NONE)
		spared *= SEEK_PACKED;
	if (!spared)
		free(places);
	else
		*ret = places;
	return spared;
}

int resched_trace_window(struct resched_trace *t, uint64_t from_ns, uint64_t to_ns)
{
	struct rs_place *places = NULL;
	uint64_t first_ns;
	int rc;

	if (t->ops || t->ahead || t->delivered || !t->nr_heap || t->dat.times.active || find_window(t, from_ns, to_ns, &places) < SEEK_MIN_BYTES) {
		free(places);
		return 0;
	}
	first_ns = t->heap[0]->next->ev.ts_ns;
	rc = rs_trace_begin_streams(t, places);
	free(places);
	if (rc < 0)
		return rc;
	t->windowed = t->any = true;
	t->source.first_ns = t->source.last_ns = first_ns;
	t->source.read_from_ns = t->nr_heap ? t->heap[0]->next->ev.ts_ns : first_ns;
	t->until_ns = to_ns;
	return 1;
}

/* How many cpus this process may use beside the one it is on. */
static int cpus_beside_this(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 0 : CPU_COUNT(&set) - 1;
}

/* Below this a thread costs more than it saves. */
#define AHEAD_MIN_BYTES (4u << 20)

int resched_trace_threads(struct resched_trace *t, int nr_threads)
{
	struct rs_lane **lanes;
	uint64_t bytes = 0;
	int rc;

	if (t->ops || t->ahead || t->delivered || !t->nr_heap || !nr_threads || t->nr_streams > RS_AHEAD_MAX_LANES)
		return 0;
	for (unsigned int i = 0; i < t->nr_streams; i++)
		bytes += t->streams[i].lane.in.end - t->streams[i].lane.in.pos;
	if (nr_threads < 0) {
		nr_threads = bytes < AHEAD_MIN_BYTES ? 0 : cpus_beside_this();
		if (!nr_threads)
			return 0;
	}
	if ((unsigned int)nr_threads > t->nr_streams)
		nr_threads = (int)t->nr_streams;
	lanes = calloc(t->nr_streams, sizeof(struct rs_lane *));
	if (!lanes)
		return 0;
	for (unsigned int i = 0; i < t->nr_streams; i++)
		lanes[i] = &t->streams[i].lane;
	rc = rs_ahead_new(lanes, t->nr_streams, (unsigned int)nr_threads, &t->ahead);
	free(lanes);
	return rc < 0 ? 0 : nr_threads;
}
