// SPDX-License-Identifier: GPL-2.0-only
/*
 * One ftrace bundle of a Perfetto trace. Full events are messages named by their field number; sched_switch and sched_waking may
 * come instead as columns (compact_sched): times as differences, names as indexes, and without the task that was switched out or
 * that woke another, which follow from the switch before.
 * Field numbers: protos/perfetto/trace/ftrace/{ftrace_event,ftrace_event_bundle,sched,task,generic}.proto.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/decode.h"
#include "trace/perfetto_reader.h"

#define INTERNED_MAX 65536u

enum bundle_field { B_CPU = 1, B_EVENT = 2, B_LOST = 3, B_COMPACT = 4, B_CLOCK = 5, B_ERROR = 8 };
enum event_field { E_TIMESTAMP = 1, E_PID = 2, E_FLAGS = 5 };

/* Numbers of the events that are decoded. */
enum event_kind {
	K_SWITCH = 4, K_WAKEUP = 17, K_WAKING = 20, K_WAKEUP_NEW = 114, K_RENAME = 236, K_EXEC = 237, K_EXIT = 238, K_FORK = 239,
	K_GENERIC = 327, K_PRIO = 353, K_MIGRATE = 491,
};

struct kind_name { uint16_t kind; const char *name; };

static const struct kind_name kind_names[] = {
	{ 3, "print" }, { K_SWITCH, "sched_switch" }, { 11, "cpu_frequency" }, { 12, "cpu_frequency_limits" }, { 13, "cpu_idle" },
	{ K_WAKEUP, "sched_wakeup" }, { 18, "sched_blocked_reason" }, { 19, "sched_cpu_hotplug" }, { K_WAKING, "sched_waking" },
	{ 21, "ipi_entry" }, { 22, "ipi_exit" }, { 23, "ipi_raise" }, { 24, "softirq_entry" }, { 25, "softirq_exit" },
	{ 26, "softirq_raise" }, { 36, "irq_handler_entry" }, { 37, "irq_handler_exit" }, { 56, "workqueue_activate_work" },
	{ 57, "workqueue_execute_end" }, { 58, "workqueue_execute_start" }, { 59, "workqueue_queue_work" },
	{ 113, "suspend_resume" }, { K_WAKEUP_NEW, "sched_wakeup_new" }, { 235, "task_newtask" }, { K_RENAME, "task_rename" },
	{ K_EXEC, "sched_process_exec" }, { K_EXIT, "sched_process_exit" }, { K_FORK, "sched_process_fork" }, { 240, "sched_process_free" },
	{ 241, "sched_process_hang" }, { 242, "sched_process_wait" }, { 313, "rss_stat" }, { 324, "signal_deliver" },
	{ 325, "signal_generate" }, { K_GENERIC, "generic" }, { 329, "sys_enter" }, { 330, "sys_exit" }, { 332, "gpu_frequency" },
	{ K_PRIO, "sched_pi_setprio" }, { 437, "funcgraph_entry" }, { 438, "funcgraph_exit" }, { K_MIGRATE, "sched_migrate_task" },
};

const char *rs_pf_kind_name(unsigned int kind)
{
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
		if (kind_names[i].kind == kind)
			return kind_names[i].name;
	}
	return NULL;
}

void rs_pf_decoder_init(struct rs_pf_decoder *dec, unsigned int release)
{
	memset(dec, 0, sizeof(*dec));
	dec->states.old = release && release < 4014;
	for (unsigned int flags = 0; flags < 256; flags++)
		dec->ctx_of_flags[flags] = rs_ctx_of_flags((uint8_t)flags, release >= 6013);
}

/* ---- one event: fields of its message */

#define ARGS_MAX 8u

struct args {
	int64_t number[ARGS_MAX];
	const uint8_t *text[ARGS_MAX];
	uint8_t text_len[ARGS_MAX];
	unsigned int seen;		/* bit i: field i was there */
};

static uint8_t name_len(size_t len)
{
	return len > UINT8_MAX ? UINT8_MAX : (uint8_t)len;
}

static bool read_args(const uint8_t *data, size_t len, struct args *a)
{
	struct rs_wire w = rs_wire_of(data, len);
	struct rs_wire_field f;

	memset(a, 0, sizeof(*a));
	while (rs_wire_next(&w, &f)) {
		if (f.nr >= ARGS_MAX)
			continue;
		a->seen |= 1u << f.nr;
		if (f.type == RS_WIRE_BYTES) {
			a->text[f.nr] = f.data;
			a->text_len[f.nr] = name_len(f.len);
		} else {
			a->number[f.nr] = (int64_t)f.value;
		}
	}
	return !w.bad;
}

static int16_t prio_of(int64_t v)
{
	return v < INT16_MIN || v > INT16_MAX ? 0 : (int16_t)v;
}

static uint16_t cpu_of(int64_t v)
{
	return v < 0 || v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}

static void set_name(struct rs_pf_item *it, unsigned int i, const struct args *a, unsigned int field, bool strong)
{
	it->name[i] = a->text[field];
	it->name_len[i] = a->text_len[field];
	if (strong)
		it->strong |= (uint8_t)(1u << i);
}

static void decode_wake(const struct args *a, uint8_t type, struct rs_pf_item *it)
{
	if ((a->seen & (1u << 4)) && !a->number[4])
		return;		/* kernels before 4.3 traced attempts that woke nobody */
	it->ev.type = type;
	it->ev.pid = (int32_t)a->number[2];
	it->ev.wake.prio = prio_of(a->number[3]);
	it->ev.wake.target_cpu = cpu_of(a->number[5]);
	it->ev.wake.waker_pid = it->current;
	set_name(it, 0, a, 1, false);
}

/* sched_stat_runtime has no number of its own: a name and fields by name (generic.proto). */
static bool decode_generic(const struct rs_wire_field *msg, struct rs_pf_item *it)
{
	struct rs_wire w = rs_wire_message(msg);
	struct rs_wire_field f;
	struct args a;

	if (!memmem(msg->data, msg->len, "sched_stat_runtime", 18))
		return true;
	it->kind = RS_PF_RUNTIME;
	it->ev.type = RESCHED_EV_RUNTIME;
	while (rs_wire_next(&w, &f)) {
		if (f.nr != 2 || f.type != RS_WIRE_BYTES)
			continue;
		if (!read_args(f.data, f.len, &a))
			return false;
		if (a.text_len[1] == 3 && !memcmp(a.text[1], "pid", 3))
			it->ev.pid = (int32_t)(a.number[4] | a.number[5]);
		else if (a.text_len[1] == 7 && !memcmp(a.text[1], "runtime", 7))
			it->ev.runtime.runtime_ns = (uint64_t)(a.number[4] | a.number[5]);
		else if (a.text_len[1] == 8 && !memcmp(a.text[1], "vruntime", 8))
			it->ev.runtime.vruntime_ns = (uint64_t)(a.number[4] | a.number[5]);
		else if (a.text_len[1] == 4 && !memcmp(a.text[1], "comm", 4))
			set_name(it, 0, &a, 3, false);
	}
	return !w.bad;
}

static bool decode_body(const struct rs_pf_decoder *dec, const struct rs_wire_field *msg, struct rs_pf_item *it)
{
	struct resched_event *ev = &it->ev;
	struct args a;

	it->kind = msg->nr < RS_PF_RUNTIME ? (uint16_t)msg->nr : 0;
	if (msg->nr == K_GENERIC)
		return decode_generic(msg, it);
	if (!rs_pf_kind_name(it->kind) || !read_args(msg->data, msg->len, &a))
		return !rs_pf_kind_name(it->kind);
	switch (it->kind) {
	case K_SWITCH:
		ev->type = RESCHED_EV_SWITCH;
		ev->pid = (int32_t)a.number[2];
		ev->sw.prev_prio = prio_of(a.number[3]);
		ev->sw.prev_state = rs_text_raw_state(&dec->states, (uint64_t)a.number[4]);
		ev->sw.next_pid = (int32_t)a.number[6];
		ev->sw.next_prio = prio_of(a.number[7]);
		it->raw_state = (uint32_t)a.number[4];
		set_name(it, 0, &a, 1, true);
		set_name(it, 1, &a, 5, true);
		break;
	case K_WAKING:
		decode_wake(&a, RESCHED_EV_WAKING, it);
		break;
	case K_WAKEUP:
		decode_wake(&a, RESCHED_EV_WAKEUP, it);
		break;
	case K_WAKEUP_NEW:
		decode_wake(&a, RESCHED_EV_WAKEUP_NEW, it);
		break;
	case K_MIGRATE:
		ev->type = RESCHED_EV_MIGRATE;
		ev->pid = (int32_t)a.number[2];
		ev->migrate.prio = prio_of(a.number[3]);
		ev->migrate.from_cpu = cpu_of(a.number[4]);
		ev->migrate.to_cpu = cpu_of(a.number[5]);
		set_name(it, 0, &a, 1, false);
		break;
	case K_FORK:
		ev->type = RESCHED_EV_FORK;
		ev->pid = (int32_t)a.number[2];
		ev->fork.child_pid = (int32_t)a.number[4];
		set_name(it, 0, &a, 1, false);
		set_name(it, 1, &a, 3, false);
		break;
	case K_EXEC:
		ev->type = RESCHED_EV_EXEC;
		ev->pid = (int32_t)a.number[2];
		set_name(it, 0, &a, 1, true);
		break;
	case K_EXIT:
		ev->type = RESCHED_EV_EXIT;
		ev->pid = (int32_t)a.number[2];
		set_name(it, 0, &a, 1, false);
		break;
	case K_PRIO:
		ev->type = RESCHED_EV_PRIO;
		ev->pid = (int32_t)a.number[4];
		ev->prio.new_prio = prio_of(a.number[2]);
		ev->prio.old_prio = prio_of(a.number[3]);
		set_name(it, 0, &a, 1, false);
		break;
	case K_RENAME:
		ev->type = RESCHED_EV_COMM;
		ev->pid = a.seen & 2 ? (int32_t)a.number[1] : it->current;
		set_name(it, 0, &a, 3, true);
		break;
	default:
		break;
	}
	return true;
}

/* An item at @it from one event. Return: 1; 0: no event inside; -1: bad. */
static int decode_event(const struct rs_pf_decoder *dec, const uint8_t *data, size_t len, struct rs_pf_item *it)
{
	struct rs_wire w = rs_wire_of(data, len);
	struct rs_wire_field f, body = { 0 };
	bool timed = false;

	memset(it, 0, sizeof(*it));
	it->current = -1;
	while (rs_wire_next(&w, &f)) {
		if (f.type == RS_WIRE_BYTES) {
			body = f;
		} else if (f.nr == E_TIMESTAMP) {
			it->ev.ts_ns = f.value;
			timed = true;
		} else if (f.nr == E_PID) {
			it->current = (int32_t)f.value;
		} else if (f.nr == E_FLAGS) {
			it->ev.ctx = dec->ctx_of_flags[f.value & 0xff];
		}
	}
	if (w.bad || !timed)
		return -1;
	if (!body.nr)
		return 0;
	it->ev.type = RESCHED_EV_OTHER;
	return decode_body(dec, &body, it) ? 1 : -1;
}

static struct rs_pf_item *new_item(struct rs_pf_decoded *ret, uint32_t *nr)
{
	if (*nr == ret->room) {
		uint32_t room = ret->room ? ret->room * 2 : 1024;
		struct rs_pf_item *items = realloc(ret->items, (size_t)room * sizeof(*items));

		if (!items)
			return NULL;
		ret->items = items;
		ret->room = room;
	}
	return &ret->items[(*nr)++];
}

/* ---- columns */

enum compact_field {
	C_SW_TIME = 1, C_SW_STATE = 2, C_SW_PID = 3, C_SW_PRIO = 4, C_NAMES = 5, C_SW_NAME = 6,
	C_WK_TIME = 7, C_WK_PID = 8, C_WK_CPU = 9, C_WK_PRIO = 10, C_WK_NAME = 11, C_WK_FLAGS = 12, C_NR = 13,
};

struct interned { const uint8_t *text; uint8_t len; };

struct columns {
	struct rs_wire col[C_NR];
	struct interned *names;
	uint32_t nr_names;
};

static bool column(struct rs_wire *col, uint64_t *ret)
{
	*ret = rs_wire_varint(col);
	return !col->bad;
}

static void set_interned(struct rs_pf_item *it, unsigned int i, const struct columns *c, uint64_t index, bool strong)
{
	if (index >= c->nr_names)
		return;
	it->name[i] = c->names[index].text;
	it->name_len[i] = c->names[index].len;
	if (strong)
		it->strong |= (uint8_t)(1u << i);
}

static int read_switches(const struct rs_pf_decoder *dec, struct columns *c, struct rs_pf_decoded *ret, uint32_t *nr)
{
	uint64_t ts = 0, delta, state, pid, prio, name;

	while (c->col[C_SW_TIME].p < c->col[C_SW_TIME].end) {
		struct rs_pf_item *it;

		if (!column(&c->col[C_SW_TIME], &delta) || !column(&c->col[C_SW_STATE], &state) || !column(&c->col[C_SW_PID], &pid) ||
		    !column(&c->col[C_SW_PRIO], &prio) || !column(&c->col[C_SW_NAME], &name)) {
			ret->bad = true;
			return 0;
		}
		it = new_item(ret, nr);
		if (!it)
			return -ENOMEM;
		ts += delta;
		memset(it, 0, sizeof(*it));
		it->ev.ts_ns = ts;
		it->ev.type = RESCHED_EV_SWITCH;
		it->ev.ctx = RESCHED_CTX_IRQS_OFF;	/* not told, but __schedule() has them off */
		it->ev.sw.prev_state = rs_text_raw_state(&dec->states, state);
		it->ev.sw.next_pid = (int32_t)pid;
		it->ev.sw.next_prio = prio_of((int64_t)prio);
		it->raw_state = (uint32_t)state;
		it->kind = K_SWITCH;
		it->current = -1;
		it->compact = true;
		set_interned(it, 1, c, name, true);
	}
	return 0;
}

static int read_wakings(const struct rs_pf_decoder *dec, struct columns *c, struct rs_pf_decoded *ret, uint32_t *nr)
{
	bool flagged = c->col[C_WK_FLAGS].p < c->col[C_WK_FLAGS].end;	/* older recorders did not tell them */
	uint64_t ts = 0, delta, pid, cpu, prio, name, flags = 0;

	while (c->col[C_WK_TIME].p < c->col[C_WK_TIME].end) {
		struct rs_pf_item *it;

		if (!column(&c->col[C_WK_TIME], &delta) || !column(&c->col[C_WK_PID], &pid) || !column(&c->col[C_WK_CPU], &cpu) ||
		    !column(&c->col[C_WK_PRIO], &prio) || !column(&c->col[C_WK_NAME], &name) ||
		    (flagged && !column(&c->col[C_WK_FLAGS], &flags))) {
			ret->bad = true;
			return 0;
		}
		it = new_item(ret, nr);
		if (!it)
			return -ENOMEM;
		ts += delta;
		memset(it, 0, sizeof(*it));
		it->ev.ts_ns = ts;
		it->ev.type = RESCHED_EV_WAKING;
		it->ev.ctx = flagged ? dec->ctx_of_flags[flags & 0xff] : 0;
		it->ev.pid = (int32_t)pid;
		it->ev.wake.prio = prio_of((int64_t)prio);
		it->ev.wake.target_cpu = cpu_of((int64_t)cpu);
		it->kind = K_WAKING;
		it->current = -1;
		it->compact = true;
		set_interned(it, 0, c, name, false);
	}
	return 0;
}

static int add_interned(struct columns *c, const struct rs_wire_field *f)
{
	if (c->nr_names == INTERNED_MAX)
		return 0;
	if (!(c->nr_names & (c->nr_names - 1))) {	/* 0 or a power of two: the room is used up */
		struct interned *names = realloc(c->names, (c->nr_names ? c->nr_names * 2 : 1) * sizeof(*names));

		if (!names)
			return -ENOMEM;
		c->names = names;
	}
	c->names[c->nr_names++] = (struct interned){ f->data, name_len(f->len) };
	return 0;
}

static int read_columns(const struct rs_wire_field *msg, struct columns *c, struct rs_pf_decoded *ret)
{
	struct rs_wire w = rs_wire_message(msg);
	struct rs_wire_field f;

	while (rs_wire_next(&w, &f)) {
		if (f.type != RS_WIRE_BYTES || f.nr >= C_NR)
			continue;
		if (f.nr == C_NAMES && add_interned(c, &f) < 0)
			return -ENOMEM;
		if (f.nr != C_NAMES)
			c->col[f.nr] = rs_wire_message(&f);
	}
	ret->bad |= w.bad;
	return 0;
}

/* ---- the bundle */

static int item_order(const void *a, const void *b)
{
	const struct rs_pf_item *x = a, *y = b;

	if (x->ev.ts_ns != y->ev.ts_ns)
		return x->ev.ts_ns < y->ev.ts_ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* What was recorded in one order is in that order, or else it is put in order: nested writers may leave it slightly mixed. */
static void end_run(struct rs_pf_decoded *ret, enum rs_pf_run run, uint32_t from, uint32_t to)
{
	bool mixed = false;

	ret->from[run] = from;
	ret->to[run] = to;
	for (uint32_t i = from + 1; i < to; i++)
		mixed |= ret->items[i].ev.ts_ns < ret->items[i - 1].ev.ts_ns;
	for (uint32_t i = from; mixed && i < to; i++)
		ret->items[i].place = i;
	if (mixed)
		qsort(ret->items + from, to - from, sizeof(*ret->items), item_order);
}

static int read_events(const struct rs_pf_decoder *dec, const uint8_t *data, size_t len, struct columns *c, struct rs_pf_decoded *ret, uint32_t *nr)
{
	struct rs_wire w = rs_wire_of(data, len);
	struct rs_wire_field f;

	while (rs_wire_next(&w, &f)) {
		struct rs_pf_item *it;
		int rc = 0;

		if (f.nr == B_EVENT && f.type == RS_WIRE_BYTES) {
			it = new_item(ret, nr);
			if (!it)
				return -ENOMEM;
			rc = decode_event(dec, f.data, f.len, it);
			*nr -= rc <= 0;
			ret->bad |= rc < 0;
		} else if (f.nr == B_COMPACT && f.type == RS_WIRE_BYTES) {
			if (read_columns(&f, c, ret) < 0)
				return -ENOMEM;
		} else if (f.nr == B_LOST) {
			ret->lost = f.value != 0;
		} else if (f.nr == B_CLOCK) {
			ret->clock = (uint8_t)f.value;
		} else if (f.nr == B_ERROR) {
			ret->errors++;
		}
	}
	ret->bad |= w.bad;
	return 0;
}

int rs_pf_decode(const struct rs_pf_decoder *dec, const uint8_t *data, size_t len, struct rs_pf_decoded *ret)
{
	struct columns c = { 0 };
	uint32_t events, wakings, nr = 0;
	int rc;

	ret->lost = ret->bad = false;
	ret->errors = 0;
	ret->clock = 0;
	memset(ret->from, 0, sizeof(ret->from));
	memset(ret->to, 0, sizeof(ret->to));
	rc = read_events(dec, data, len, &c, ret, &nr);
	events = nr;
	if (rc == 0)
		rc = read_wakings(dec, &c, ret, &nr);
	wakings = nr;
	if (rc == 0)
		rc = read_switches(dec, &c, ret, &nr);
	free(c.names);
	if (rc < 0)
		return rc;
	end_run(ret, RS_PF_EVENTS, 0, events);
	end_run(ret, RS_PF_WAKINGS, events, wakings);
	end_run(ret, RS_PF_SWITCHES, wakings, nr);
	return 0;
}
