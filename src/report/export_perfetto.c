// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's trace format: a row of packets. Events go out as bundles of ftrace events, one bundle a cpu, from which ui.perfetto.dev
 * makes its cpu and thread tracks, states and wake arrows; a model's lag and missed deadlines as counters below their thread.
 * Field numbers: protos/perfetto/trace/ in Perfetto's sources, named beside each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/event_names.h"
#include "report/export.h"
#include "report/protobuf.h"
#include "report/text.h"

#define BATCH 4096u		/* events and samples between two packets: readers sort within a window */
#define SEQUENCE 1u		/* of packets; there is one writer */

enum { TRACE_PACKET = 1 };
enum { PACKET_FTRACE = 1, PACKET_PROCESS_TREE = 2, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11,
       PACKET_SEQUENCE_FLAGS = 13, PACKET_SYSTEM_INFO = 45, PACKET_TRACK_DESCRIPTOR = 60 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3 };
enum { EVENT_TIMESTAMP = 1, EVENT_PID = 2, EVENT_SWITCH = 4, EVENT_FLAGS = 5, EVENT_WAKEUP = 17, EVENT_WAKING = 20, EVENT_WAKEUP_NEW = 114, EVENT_RENAME = 236,
       EVENT_EXEC = 237, EVENT_EXIT = 238, EVENT_FORK = 239, EVENT_GENERIC = 327, EVENT_PI_SETPRIO = 353, EVENT_MIGRATE = 491 };
enum { GENERIC_NAME = 1, GENERIC_FIELD = 2, FIELD_NAME = 1, FIELD_TEXT = 3, FIELD_INT = 4, FIELD_UINT = 5 };
enum { INFO_UTSNAME = 1, INFO_VERSION = 4, INFO_CPUS = 8 };
enum { UTS_SYSNAME = 1, UTS_VERSION = 2, UTS_RELEASE = 3, UTS_MACHINE = 4 };
enum { TREE_PROCESS = 1, TREE_THREAD = 2, PROCESS_PID = 1, PROCESS_CMDLINE = 3, THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8, TRACK_THREAD_PID = 1, TRACK_THREAD_TID = 2,
       COUNTER_UNIT = 3, UNIT_TIME_NS = 1, UNIT_COUNT = 2 };
enum { TRACK_EVENT_TYPE = 9, TRACK_EVENT_UUID = 11, TRACK_EVENT_VALUE = 30, TYPE_COUNTER = 4 };

#define UUID_BASE 0x7265736300000000ull	/* and four a thread */
enum { UUID_THREAD, UUID_LAG, UUID_MISSES };

struct bundle { struct rs_pb events; bool lost; };

struct perfetto {
	unsigned int nr_cpus;		struct bundle *cpus;
	struct rs_pb packets;		/* of counters, complete */
	struct rs_pb scratch;
	unsigned int nr;		/* events and samples since the last packet */
	bool started, sequence_known;
	struct rs_map misses;		/* pid -> missed deadlines; who is here has tracks */
};

static int write_out(struct resched_export *x, const struct rs_pb *pb)
{
	if (pb->failed)
		return -ENOMEM;
	if (pb->len && fwrite(pb->data, 1, pb->len, x->out) != pb->len)
		return rs_export_failed(x);
	return 0;
}

static int perfetto_begin(struct resched_export *x)
{
	x->priv = calloc(1, sizeof(struct perfetto));
	return x->priv ? 0 : -ENOMEM;
}

/*
 * Readers choose the meaning of prev_state by the kernel's release. States go out as kernels since 4.14 have them, so an older
 * one, or none, is told as such a kernel that says what it is.
 */
static void put_release(struct rs_pb *pb, const char *kernel)
{
	char text[160], *end;
	unsigned long major = kernel ? strtoul(kernel, &end, 10) : 0, minor = 0;

	if (major && *end == '.')
		minor = strtoul(end + 1, NULL, 10);
	if (major > 4 || (major == 4 && minor >= 15))
		rs_pb_text(pb, UTS_RELEASE, kernel);
	else {
		snprintf(text, sizeof(text), "4.20.0 (recorded on %s)", kernel ? kernel : "an unknown kernel");
		rs_pb_text(pb, UTS_RELEASE, text);
	}
}

static void put_system(struct resched_export *x, struct rs_pb *pb)
{
	const struct resched_host *host = x->host;
	size_t packet = rs_pb_begin(pb, TRACE_PACKET), info = rs_pb_begin(pb, PACKET_SYSTEM_INFO), uts = rs_pb_begin(pb, INFO_UTSNAME);

	rs_pb_text(pb, UTS_SYSNAME, "Linux");
	if (host && host->version)
		rs_pb_text(pb, UTS_VERSION, host->version);
	put_release(pb, host ? host->kernel : NULL);
	if (host && host->machine)
		rs_pb_text(pb, UTS_MACHINE, host->machine);
	rs_pb_end(pb, uts);
#ifdef RESCHED_VERSION
	rs_pb_text(pb, INFO_VERSION, "resched " RESCHED_VERSION);
#endif
	if (x->nr_cpus)
		rs_pb_u64(pb, INFO_CPUS, x->nr_cpus);
	rs_pb_end(pb, info);
	rs_pb_u64(pb, PACKET_SEQUENCE, SEQUENCE);
	rs_pb_end(pb, packet);
}

static void put_clean(struct rs_pb *pb, unsigned int field, const char *text)
{
	char *clean = rs_utf8_clean(text);

	if (clean)
		rs_pb_text(pb, field, clean);
	else
		pb->failed = true;
	free(clean);
}

static void put_tree(struct resched_export *x, struct rs_pb *pb, uint64_t ts_ns)
{
	size_t packet = rs_pb_begin(pb, TRACE_PACKET), tree, one;

	rs_pb_u64(pb, PACKET_TIMESTAMP, ts_ns);
	rs_pb_u64(pb, PACKET_SEQUENCE, SEQUENCE);
	tree = rs_pb_begin(pb, PACKET_PROCESS_TREE);
	for (unsigned int i = 0; x->host && i < x->host->nr_tasks; i++) {
		const struct resched_host_task *task = &x->host->tasks[i];
		bool leader = task->tgid <= 0 || task->tgid == task->pid;

		one = rs_pb_begin(pb, leader ? TREE_PROCESS : TREE_THREAD);
		rs_pb_i64(pb, leader ? PROCESS_PID : THREAD_TID, task->pid);
		put_clean(pb, leader ? PROCESS_CMDLINE : THREAD_NAME, task->comm);
		if (!leader)
			rs_pb_i64(pb, THREAD_TGID, task->tgid);
		rs_pb_end(pb, one);
	}
	rs_pb_end(pb, tree);
	rs_pb_end(pb, packet);
}

static int start(struct resched_export *x, uint64_t ts_ns)
{
	struct perfetto *p = x->priv;

	p->started = true;
	p->scratch.len = 0;
	put_system(x, &p->scratch);
	if (x->host && x->host->nr_tasks)
		put_tree(x, &p->scratch, ts_ns);
	return write_out(x, &p->scratch);
}

/* Hand out the bundles of all cpus and the counters, and begin anew. */
static int flush(struct resched_export *x)
{
	struct perfetto *p = x->priv;
	int rc = 0;

	for (unsigned int cpu = 0; cpu < p->nr_cpus && rc == 0; cpu++) {
		struct bundle *b = &p->cpus[cpu];
		size_t packet, bundle;

		if (!b->events.len && !b->lost)
			continue;
		p->scratch.len = 0;
		packet = rs_pb_begin(&p->scratch, TRACE_PACKET);
		bundle = rs_pb_begin(&p->scratch, PACKET_FTRACE);
		rs_pb_u64(&p->scratch, BUNDLE_CPU, cpu);
		rs_pb_append(&p->scratch, &b->events);
		if (b->lost)
			rs_pb_u64(&p->scratch, BUNDLE_LOST, 1);
		rs_pb_end(&p->scratch, bundle);
		rs_pb_u64(&p->scratch, PACKET_SEQUENCE, SEQUENCE);
		rs_pb_end(&p->scratch, packet);
		rc = write_out(x, &p->scratch);
		b->events.len = 0;
		b->lost = false;
	}
	if (rc == 0)
		rc = write_out(x, &p->packets);
	p->packets.len = 0;
	p->nr = 0;
	return rc;
}

static struct bundle *bundle_of(struct perfetto *p, unsigned int cpu)
{
	if (cpu >= p->nr_cpus) {
		unsigned int nr = cpu + 16;
		struct bundle *grown = realloc(p->cpus, nr * sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + p->nr_cpus, 0, (nr - p->nr_cpus) * sizeof(*grown));
		p->cpus = grown;
		p->nr_cpus = nr;
	}
	return &p->cpus[cpu];
}

/* ---- ftrace events */

static void put_comm(struct resched_export *x, struct rs_pb *pb, unsigned int field, int32_t pid, unsigned int cpu)
{
	char idle[32];

	if (pid) {
		rs_pb_text(pb, field, rs_export_name(x, pid));
	} else {
		snprintf(idle, sizeof(idle), "swapper/%u", cpu);
		rs_pb_text(pb, field, idle);
	}
}

/* protos/perfetto/trace/ftrace/sched.proto, SchedSwitchFtraceEvent */
static void put_switch(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev)
{
	size_t body = rs_pb_begin(pb, EVENT_SWITCH);
	uint32_t state = ev->sw.prev_state;

	put_comm(x, pb, 1, ev->pid, ev->cpu);
	rs_pb_i64(pb, 2, ev->pid);
	rs_pb_i64(pb, 3, ev->sw.prev_prio);
	/* the bits from S to I are the kernel's; 0x600 are none of them, so that readers take the state for unknown */
	rs_pb_u64(pb, 4, (state & 0xff) | (state & RESCHED_STATE_PREEMPT ? 0x100 : 0) | (state & RESCHED_STATE_OTHER ? 0x600 : 0));
	put_comm(x, pb, 5, ev->sw.next_pid, ev->cpu);
	rs_pb_i64(pb, 6, ev->sw.next_pid);
	rs_pb_i64(pb, 7, ev->sw.next_prio);
	rs_pb_end(pb, body);
}

/* SchedWakingFtraceEvent and its sisters */
static void put_wake(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev)
{
	unsigned int field = ev->type == RESCHED_EV_WAKING ? EVENT_WAKING : ev->type == RESCHED_EV_WAKEUP ? EVENT_WAKEUP : EVENT_WAKEUP_NEW;
	size_t body = rs_pb_begin(pb, field);

	put_comm(x, pb, 1, ev->pid, ev->cpu);
	rs_pb_i64(pb, 2, ev->pid);
	rs_pb_i64(pb, 3, ev->wake.prio);
	rs_pb_u64(pb, 4, 1);
	rs_pb_u64(pb, 5, ev->wake.target_cpu);
	rs_pb_end(pb, body);
}

/* SchedMigrateTaskFtraceEvent */
static void put_migrate(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev)
{
	size_t body = rs_pb_begin(pb, EVENT_MIGRATE);

	put_comm(x, pb, 1, ev->pid, ev->cpu);
	rs_pb_i64(pb, 2, ev->pid);
	rs_pb_i64(pb, 3, ev->migrate.prio);
	rs_pb_u64(pb, 4, ev->migrate.from_cpu);
	rs_pb_u64(pb, 5, ev->migrate.to_cpu);
	rs_pb_end(pb, body);
}

/* SchedProcessForkFtraceEvent */
static void put_fork(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev)
{
	size_t body = rs_pb_begin(pb, EVENT_FORK);

	put_comm(x, pb, 1, ev->pid, ev->cpu);
	rs_pb_i64(pb, 2, ev->pid);
	put_comm(x, pb, 3, ev->fork.child_pid, ev->cpu);
	rs_pb_i64(pb, 4, ev->fork.child_pid);
	rs_pb_end(pb, body);
}

/* SchedProcessExecFtraceEvent, SchedProcessExitFtraceEvent: a text and a pid first */
static void put_pid(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev, unsigned int field)
{
	size_t body = rs_pb_begin(pb, field);

	put_comm(x, pb, 1, ev->pid, ev->cpu);
	rs_pb_i64(pb, 2, ev->pid);
	if (field == EVENT_EXEC)
		rs_pb_i64(pb, 3, ev->pid);
	rs_pb_end(pb, body);
}

/* SchedPiSetprioFtraceEvent: fields in the order of their names */
static void put_prio(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev)
{
	size_t body = rs_pb_begin(pb, EVENT_PI_SETPRIO);

	put_comm(x, pb, 1, ev->pid, ev->cpu);
	rs_pb_i64(pb, 2, ev->prio.new_prio);
	rs_pb_i64(pb, 3, ev->prio.old_prio);
	rs_pb_i64(pb, 4, ev->pid);
	rs_pb_end(pb, body);
}

/* task.proto, TaskRenameFtraceEvent; @before: what it was called, "" when nobody said */
static void put_rename(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev, const char *before)
{
	size_t body = rs_pb_begin(pb, EVENT_RENAME);

	rs_pb_i64(pb, 1, ev->pid);
	rs_pb_text(pb, 2, before);
	put_comm(x, pb, 3, ev->pid, ev->cpu);
	rs_pb_end(pb, body);
}

/* generic.proto: what perfetto has no message for goes by names. */
static void put_generic(struct resched_export *x, struct rs_pb *pb, const struct resched_event *ev)
{
	size_t body = rs_pb_begin(pb, EVENT_GENERIC), field;

	rs_pb_text(pb, GENERIC_NAME, rs_export_event_name(ev));
	if (ev->type == RESCHED_EV_RUNTIME) {
		field = rs_pb_begin(pb, GENERIC_FIELD);
		rs_pb_text(pb, FIELD_NAME, "comm");
		put_comm(x, pb, FIELD_TEXT, ev->pid, ev->cpu);
		rs_pb_end(pb, field);
		field = rs_pb_begin(pb, GENERIC_FIELD);
		rs_pb_text(pb, FIELD_NAME, "pid");
		rs_pb_i64(pb, FIELD_INT, ev->pid);
		rs_pb_end(pb, field);
		field = rs_pb_begin(pb, GENERIC_FIELD);
		rs_pb_text(pb, FIELD_NAME, "runtime");
		rs_pb_u64(pb, FIELD_UINT, ev->runtime.runtime_ns);
		rs_pb_end(pb, field);
	}
	if (ev->type == RESCHED_EV_RUNTIME && ev->runtime.vruntime_ns) {
		field = rs_pb_begin(pb, GENERIC_FIELD);
		rs_pb_text(pb, FIELD_NAME, "vruntime");
		rs_pb_u64(pb, FIELD_UINT, ev->runtime.vruntime_ns);
		rs_pb_end(pb, field);
	}
	rs_pb_end(pb, body);
}

/* As common_flags of the kernel. */
static unsigned int flags_of(uint8_t ctx)
{
	return (ctx & RESCHED_CTX_IRQS_OFF ? 0x01u : 0) | (ctx & RESCHED_CTX_NEED_RESCHED ? 0x04u : 0) |
	       (ctx & RESCHED_CTX_HARDIRQ ? 0x08u : 0) | (ctx & RESCHED_CTX_SOFTIRQ ? 0x10u : 0);
}

static int32_t owner(const struct resched_export *x, const struct resched_event *ev)
{
	if (rs_event_is_wake(ev))
		return ev->wake.waker_pid;
	if (ev->type == RESCHED_EV_MIGRATE || ev->type == RESCHED_EV_PRIO || ev->type == RESCHED_EV_RUNTIME || ev->type == RESCHED_EV_OTHER ||
	    ev->type == RESCHED_EV_IRQ)
		return rs_export_curr(x, ev->cpu);
	return ev->pid;
}

static int perfetto_event(struct resched_export *x, const struct resched_event *ev)
{
	struct perfetto *p = x->priv;
	const char *before = "";
	struct rs_pb *pb;
	struct bundle *b;
	size_t event;
	int rc = p->started ? 0 : start(x, ev->ts_ns);

	if (rc < 0)
		return rc;
	if (ev->type == RESCHED_EV_COMM) {
		before = rs_export_name(x, ev->pid);
		if (!ev->pid)
			return 0;
		if (rs_map_set(&x->comm, (uint32_t)ev->pid, ev->comm.name) < 0)
			return -ENOMEM;
	}
	/* events carry names anyway; rows of kernel truth have no place */
	if ((ev->type == RESCHED_EV_COMM && !ev->comm.renamed) || ev->type == RESCHED_EV_TRUTH)
		return 0;
	b = bundle_of(p, ev->cpu);
	if (!b)
		return -ENOMEM;
	if (ev->type == RESCHED_EV_LOST) {	/* a bundle with the mark: what is before it belongs into another */
		rc = flush(x);
		b->lost = true;
		return rc;
	}
	pb = &b->events;
	event = rs_pb_begin(pb, BUNDLE_EVENT);
	rs_pb_u64(pb, EVENT_TIMESTAMP, ev->ts_ns);
	rs_pb_u64(pb, EVENT_PID, (uint32_t)owner(x, ev));
	if (flags_of(ev->ctx))
		rs_pb_u64(pb, EVENT_FLAGS, flags_of(ev->ctx));
	switch (ev->type) {
	case RESCHED_EV_SWITCH: put_switch(x, pb, ev); break;
	case RESCHED_EV_MIGRATE: put_migrate(x, pb, ev); break;
	case RESCHED_EV_FORK: put_fork(x, pb, ev); break;
	case RESCHED_EV_EXEC: put_pid(x, pb, ev, EVENT_EXEC); break;
	case RESCHED_EV_EXIT: put_pid(x, pb, ev, EVENT_EXIT); break;
	case RESCHED_EV_PRIO: put_prio(x, pb, ev); break;
	case RESCHED_EV_COMM: put_rename(x, pb, ev, before); break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW: put_wake(x, pb, ev); break;
	default: put_generic(x, pb, ev); break;
	}
	rs_pb_end(pb, event);
	if (pb->failed)
		return -ENOMEM;
	return ++p->nr < BATCH ? x->failure : flush(x);
}

/* ---- counters */

static uint64_t uuid(int32_t pid, unsigned int which)
{
	return UUID_BASE + 4ull * (uint32_t)pid + which;
}

/* A packet with a track; the first of the sequence says that there is nothing before it. */
static size_t begin_track(struct perfetto *p, size_t *packet)
{
	*packet = rs_pb_begin(&p->packets, TRACE_PACKET);
	rs_pb_u64(&p->packets, PACKET_SEQUENCE, SEQUENCE);
	if (!p->sequence_known)
		rs_pb_u64(&p->packets, PACKET_SEQUENCE_FLAGS, 1);
	p->sequence_known = true;
	return rs_pb_begin(&p->packets, PACKET_TRACK_DESCRIPTOR);
}

static void put_counter_track(struct perfetto *p, int32_t pid, unsigned int which, const char *name, unsigned int unit)
{
	size_t packet, track = begin_track(p, &packet), counter;

	rs_pb_u64(&p->packets, TRACK_UUID, uuid(pid, which));
	rs_pb_u64(&p->packets, TRACK_PARENT, uuid(pid, UUID_THREAD));
	rs_pb_text(&p->packets, TRACK_NAME, name);
	counter = rs_pb_begin(&p->packets, TRACK_COUNTER);
	rs_pb_u64(&p->packets, COUNTER_UNIT, unit);
	rs_pb_end(&p->packets, counter);
	rs_pb_end(&p->packets, track);
	rs_pb_end(&p->packets, packet);
}

static void put_tracks(struct resched_export *x, struct perfetto *p, int32_t pid)
{
	const struct resched_host_task *task = x->host ? resched_host_task(x->host, pid) : NULL;
	size_t packet, track = begin_track(p, &packet), thread;

	rs_pb_u64(&p->packets, TRACK_UUID, uuid(pid, UUID_THREAD));
	thread = rs_pb_begin(&p->packets, TRACK_THREAD);
	rs_pb_i64(&p->packets, TRACK_THREAD_PID, task && task->tgid > 0 ? task->tgid : pid);
	rs_pb_i64(&p->packets, TRACK_THREAD_TID, pid);
	rs_pb_end(&p->packets, thread);
	rs_pb_end(&p->packets, track);
	rs_pb_end(&p->packets, packet);
	put_counter_track(p, pid, UUID_LAG, "lag", UNIT_TIME_NS);
	put_counter_track(p, pid, UUID_MISSES, "missed deadlines", UNIT_COUNT);
}

static void put_value(struct perfetto *p, uint64_t ts_ns, uint64_t track, int64_t value)
{
	size_t packet = rs_pb_begin(&p->packets, TRACE_PACKET), event;

	rs_pb_u64(&p->packets, PACKET_TIMESTAMP, ts_ns);
	rs_pb_u64(&p->packets, PACKET_SEQUENCE, SEQUENCE);
	event = rs_pb_begin(&p->packets, PACKET_TRACK_EVENT);
	rs_pb_u64(&p->packets, TRACK_EVENT_TYPE, TYPE_COUNTER);
	rs_pb_u64(&p->packets, TRACK_EVENT_UUID, track);
	rs_pb_i64(&p->packets, TRACK_EVENT_VALUE, value);
	rs_pb_end(&p->packets, event);
	rs_pb_end(&p->packets, packet);
}

static int perfetto_lag(struct resched_export *x, uint64_t ts_ns, const struct rs_lag *lag)
{
	struct perfetto *p = x->priv;
	uint32_t misses = rs_map_get(&p->misses, (uint32_t)lag->pid);
	int rc = p->started ? 0 : start(x, ts_ns);

	if (rc < 0)
		return rc;
	if (misses == RS_MAP_NONE) {
		put_tracks(x, p, lag->pid);
		misses = 0;
		if (!lag->missed && rs_map_set(&p->misses, (uint32_t)lag->pid, 0) < 0)
			return -ENOMEM;
	}
	put_value(p, ts_ns, uuid(lag->pid, UUID_LAG), lag->lag_ns);
	if (lag->missed) {
		if (rs_map_set(&p->misses, (uint32_t)lag->pid, misses + 1) < 0)
			return -ENOMEM;
		put_value(p, ts_ns, uuid(lag->pid, UUID_MISSES), misses + 1);
	}
	if (p->packets.failed)
		return -ENOMEM;
	return ++p->nr < BATCH ? x->failure : flush(x);
}

static int perfetto_end(struct resched_export *x)
{
	struct perfetto *p = x->priv;
	int rc = p->started ? 0 : start(x, 0);

	return rc < 0 ? rc : flush(x);
}

static void perfetto_release(struct resched_export *x)
{
	struct perfetto *p = x->priv;

	if (!p)
		return;
	for (unsigned int cpu = 0; cpu < p->nr_cpus; cpu++)
		rs_pb_release(&p->cpus[cpu].events);
	free(p->cpus);
	rs_pb_release(&p->packets);
	rs_pb_release(&p->scratch);
	rs_map_release(&p->misses);
	free(p);
}

const struct rs_export_ops rs_export_perfetto = {
	.begin = perfetto_begin, .event = perfetto_event, .lag = perfetto_lag, .end = perfetto_end, .release = perfetto_release,
	.name = rs_utf8_clean,
};
