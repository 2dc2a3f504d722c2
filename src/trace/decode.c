// SPDX-License-Identifier: GPL-2.0-only
#include "trace/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

/* common_flags (kernel: include/linux/trace_events.h, enum trace_flag_type) */
#define FLAG_IRQS_OFF		0x01
#define FLAG_RESCHED_LAZY	0x02	/* since 6.13; before: the machine cannot tell whether interrupts are off */
#define FLAG_RESCHED		0x04
#define FLAG_HARDIRQ		0x08
#define FLAG_SOFTIRQ		0x10
#define FLAG_NMI		0x40

#define COMM_BYTES	16	/* of a name in an event (kernel: TASK_COMM_LEN) */

/* Which field is where in struct rs_kind.f. */
enum switch_field { SW_PREV_PID, SW_PREV_PRIO, SW_PREV_STATE, SW_NEXT_PID, SW_NEXT_PRIO, SW_PREV_COMM, SW_NEXT_COMM };
enum wake_field { WK_PID, WK_PRIO, WK_CPU, WK_COMM, WK_SUCCESS };
enum migrate_field { MG_PID, MG_PRIO, MG_FROM, MG_TO, MG_COMM };
enum fork_field { FK_PARENT, FK_CHILD, FK_PARENT_COMM, FK_CHILD_COMM };
enum exec_field { EX_PID, EX_FILE };
enum exit_field { XT_PID, XT_COMM };
enum prio_field { PR_PID, PR_OLD, PR_NEW, PR_COMM };
enum runtime_field { RT_PID, RT_RUNTIME, RT_VRUNTIME, RT_COMM };
enum rename_field { RN_PID, RN_COMM };
enum irq_field { IQ_NR };
enum truth_field { TR_PID, TR_ROW, TR_LEVEL, TR_CPU };

struct record_fields {
	const char *event;
	enum rs_record record;
	const char *fields[RS_DECODE_FIELDS];
	unsigned int required;	/* bit i: without field i the event cannot be decoded */
};

static const struct record_fields known_events[] = {
	{ "sched_switch", RS_REC_SWITCH, { "prev_pid", "prev_prio", "prev_state", "next_pid", "next_prio", "prev_comm", "next_comm" }, 0x1f },
	{ "sched_waking", RS_REC_WAKING, { "pid", "prio", "target_cpu", "comm", "success" }, 0x1 },
	{ "sched_wakeup", RS_REC_WAKEUP, { "pid", "prio", "target_cpu", "comm", "success" }, 0x1 },
	{ "sched_wakeup_new", RS_REC_WAKEUP_NEW, { "pid", "prio", "target_cpu", "comm", "success" }, 0x1 },
	{ "sched_migrate_task", RS_REC_MIGRATE, { "pid", "prio", "orig_cpu", "dest_cpu", "comm" }, 0xd },
	{ "sched_process_fork", RS_REC_FORK, { "parent_pid", "child_pid", "parent_comm", "child_comm" }, 0x3 },
	{ "sched_process_exec", RS_REC_EXEC, { "pid", "filename" }, 0x1 },
	{ "sched_process_exit", RS_REC_EXIT, { "pid", "comm" }, 0x1 },
	{ "sched_pi_setprio", RS_REC_PRIO, { "pid", "oldprio", "newprio", "comm" }, 0x7 },
	{ "sched_stat_runtime", RS_REC_RUNTIME, { "pid", "runtime", "vruntime", "comm" }, 0x3 },
	{ "task_rename", RS_REC_RENAME, { "pid", "newcomm" }, 0x2 },	/* 6.14 dropped pid: then it is common_pid */
	{ "sched_run", RS_REC_RUNTIME, { "pid", "runtime", "vruntime", "comm" }, 0x3 },	/* ours: one a switch, from the bpf backend */
	{ "sched_run_long", RS_REC_RUNTIME, { "pid", "runtime", "vruntime", "comm" }, 0x3 },
	{ "sched_truth", RS_REC_TRUTH, { "pid", "row", "level", "cpu" }, 0xf },		/* ours */
	{ "sched_truth_start", RS_REC_START, { "pid", "row", "level", "cpu" }, 0xf },	/* ours */
	{ "irq_handler_entry", RS_REC_IRQ_ENTRY, { "irq" }, 0x1 },
	{ "irq_handler_exit", RS_REC_IRQ_EXIT, { "irq" }, 0x1 },
	{ "softirq_entry", RS_REC_SOFTIRQ_ENTRY, { "vec" }, 0x1 },
	{ "softirq_exit", RS_REC_SOFTIRQ_EXIT, { "vec" }, 0x1 },
};

/* Sign follows the field; sizes other than 1, 2, 4, 8 were refused when the format was read. */
static inline int64_t load(const struct rs_decoder *dec, const struct rs_field *f, const uint8_t *data)
{
	const uint8_t *p = data + f->offset;
	uint32_t v;

	if (f->size == 4) {
		v = rs_load_u32(p, dec->swap);
		return f->is_signed ? (int64_t)(int32_t)v : (int64_t)v;
	}
	switch (f->size) {
	case 8:
		return (int64_t)rs_load_u64(p, dec->swap);
	case 2:
		v = rs_load_u16(p, dec->swap);
		return f->is_signed ? (int64_t)(int16_t)v : (int64_t)v;
	case 1:
		return f->is_signed ? (int64_t)(int8_t)*p : (int64_t)*p;
	default:
		return 0;
	}
}

static bool is_number(const struct rs_field *f)
{
	return !f->is_array && !f->is_dynamic && !f->is_relative && (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static bool is_text_field(const char *name)
{
	return strstr(name, "comm") || !strcmp(name, "filename");
}

/* Look up the fields of one event. False: a field that is needed is missing or is no number. */
static bool bind_fields(struct rs_kind *kind, const struct record_fields *known, struct tep_event *format)
{
	kind->min_len = 0;
	for (unsigned int i = 0; i < RS_DECODE_FIELDS && known->fields[i]; i++) {
		struct rs_field *f = &kind->f[i];
		bool text = is_text_field(known->fields[i]);
		bool usable = rs_format_field(format, known->fields[i], f) &&
			      (text ? f->is_array || f->is_dynamic || f->is_relative : is_number(f));

		if (usable && (f->is_dynamic || f->is_relative) && f->size != 4)
			usable = false;
		if (!usable) {
			if (known->required & (1u << i))
				return false;
			memset(f, 0, sizeof(*f));
		}
		if ((uint32_t)f->offset + f->size > kind->min_len)
			kind->min_len = (uint32_t)f->offset + f->size;
	}
	kind->record = (uint8_t)known->record;
	kind->ctx = strncmp(known->event, "sched_run", 9) ? 0 : RESCHED_CTX_STRETCH;
	return true;
}

static const struct record_fields *known_event(const char *name)
{
	for (size_t i = 0; i < sizeof(known_events) / sizeof(known_events[0]); i++) {
		if (!strcmp(known_events[i].event, name))
			return &known_events[i];
	}
	return NULL;
}

/* The fields that all events have. They are where they are in the first format that tells. */
static void bind_common(struct rs_decoder *dec, struct tep_event *format)
{
	struct rs_field type, flags, pid;

	if (dec->common_bound || !rs_format_field(format, "common_type", &type) || !rs_format_field(format, "common_flags", &flags) ||
	    !rs_format_field(format, "common_pid", &pid))
		return;
	if (type.size != 2 || flags.size != 1 || !is_number(&type) || !is_number(&flags) || !is_number(&pid))
		return;
	dec->type = type;
	dec->flags = flags;
	dec->pid = pid;
	dec->common_bound = true;
}

static void set_common_len(struct rs_decoder *dec)
{
	dec->common_len = (uint32_t)dec->type.offset + dec->type.size;
	if ((uint32_t)dec->flags.offset + 1 > dec->common_len)
		dec->common_len = (uint32_t)dec->flags.offset + 1;
	if ((uint32_t)dec->pid.offset + dec->pid.size > dec->common_len)
		dec->common_len = (uint32_t)dec->pid.offset + dec->pid.size;
}

static int bind_kind(struct rs_decoder *dec, struct tep_handle *formats, struct rs_kind *kind, const struct rs_dat_event *ev,
		      struct rs_notes *notes)
{
	const struct record_fields *known = ev->text ? known_event(ev->name) : NULL;
	struct tep_event *format;

	if (!known)
		return 0;
	format = rs_formats_add(formats, ev->text);
	if (!format && errno == ENOMEM)
		return -ENOMEM;
	if (format)
		bind_common(dec, format);
	if (!format || !bind_fields(kind, known, format)) {
		memset(kind->f, 0, sizeof(kind->f));
		kind->min_len = 0;
		rs_note_damage(notes, "the format of %s %s; such events are only counted", ev->name,
			       format ? "lacks a field that is needed" : "cannot be understood");
	} else if (known->record == RS_REC_TRUTH || known->record == RS_REC_START) {
		uint32_t len = rs_truth_bind(known->record == RS_REC_START ? &dec->start : &dec->truth, format);

		kind->min_len = len > kind->min_len ? len : kind->min_len;
	} else if (known->record == RS_REC_SWITCH) {
		dec->states_understood = rs_states_parse(&dec->states, rs_format_print(ev->text));
		if (!dec->states_understood)
			rs_note(notes, "the task states in the print format of sched_switch are not understood; those of kernels since 4.20 are assumed");
	}
	return 0;
}

uint8_t rs_ctx_of_flags(uint8_t flags, bool lazy_flag)
{
	uint8_t ctx = 0;

	if (flags & FLAG_IRQS_OFF)
		ctx |= RESCHED_CTX_IRQS_OFF;
	if ((flags & FLAG_RESCHED) || (lazy_flag && (flags & FLAG_RESCHED_LAZY)))
		ctx |= RESCHED_CTX_NEED_RESCHED;
	if (flags & (FLAG_HARDIRQ | FLAG_NMI))
		ctx |= RESCHED_CTX_HARDIRQ;
	if (flags & FLAG_SOFTIRQ)
		ctx |= RESCHED_CTX_SOFTIRQ;
	return ctx;
}

static void fill_ctx(struct rs_decoder *dec, bool lazy_flag)
{
	for (unsigned int flags = 0; flags < 256; flags++)
		dec->ctx_of_flags[flags] = rs_ctx_of_flags((uint8_t)flags, lazy_flag);
}

int rs_decoder_init(struct rs_decoder *dec, const struct rs_dat *dat, bool lazy_flag)
{
	struct tep_handle *formats = rs_formats_new(dat->big);
	bool any = false;

	dec->swap = dat->swap;
	dec->kinds = calloc((size_t)dat->nr_events + 1, sizeof(*dec->kinds));
	dec->kind_of_id = calloc(65536, sizeof(*dec->kind_of_id));
	if (!formats || !dec->kinds || !dec->kind_of_id) {
		tep_free(formats);
		return -ENOMEM;
	}
	dec->kinds[0].name = "unknown";
	dec->nr_kinds = 1;
	rs_states_parse(&dec->states, "");
	dec->type = (struct rs_field){ .offset = 0, .size = 2 };
	dec->flags = (struct rs_field){ .offset = 2, .size = 1 };
	dec->pid = (struct rs_field){ .offset = 4, .size = 4, .is_signed = true };
	fill_ctx(dec, lazy_flag);
	for (unsigned int i = 0; i < dat->nr_events && dec->nr_kinds < 65536; i++) {
		const struct rs_dat_event *ev = &dat->events[i];
		struct rs_kind *kind = &dec->kinds[dec->nr_kinds];

		if (dec->kind_of_id[ev->id])
			continue;	/* the first format of an id counts */
		kind->name = ev->name;
		if (bind_kind(dec, formats, kind, ev, dat->notes) < 0) {
			tep_free(formats);
			return -ENOMEM;
		}
		any |= rs_record_is_sched(kind->record);
		dec->kind_of_id[ev->id] = (uint16_t)dec->nr_kinds++;
	}
	tep_free(formats);
	set_common_len(dec);
	for (unsigned int i = 1; i < dec->nr_kinds; i++) {
		if (dec->kinds[i].min_len < dec->common_len)
			dec->kinds[i].min_len = dec->common_len;
	}
	return any ? 0 : -ENODATA;
}

void rs_decoder_release(struct rs_decoder *dec)
{
	free(dec->kinds);
	free(dec->kind_of_id);
	rs_map_release(&dec->own);
	memset(dec, 0, sizeof(*dec));
}

static inline bool is_own(const struct rs_decoder *dec, int32_t pid)
{
	return dec->own.count && rs_map_get(&dec->own, (uint32_t)pid) != RS_MAP_NONE;
}

bool rs_decode(const struct rs_decoder *dec, const struct rs_kind *kind, const uint8_t *data, uint32_t len, struct resched_event *ev)
{
	const struct rs_field *f = kind->f;
	int32_t waker = 0;

	ev->ctx = 0;
	ev->pid = 0;
	ev->type = RESCHED_EV_OTHER;
	memset(&ev->sw, 0, sizeof(*ev) - offsetof(struct resched_event, sw));
	if (len < kind->min_len || len < dec->common_len)
		return false;
	ev->ctx = dec->ctx_of_flags[data[dec->flags.offset]] | kind->ctx;
	switch (kind->record) {
	case RS_REC_SWITCH:
		ev->type = RESCHED_EV_SWITCH;
		ev->pid = (int32_t)load(dec, &f[SW_PREV_PID], data);
		ev->sw.next_pid = (int32_t)load(dec, &f[SW_NEXT_PID], data);
		ev->sw.prev_prio = (int16_t)load(dec, &f[SW_PREV_PRIO], data);
		ev->sw.next_prio = (int16_t)load(dec, &f[SW_NEXT_PRIO], data);
		ev->sw.prev_state = rs_states_decode(&dec->states, (uint64_t)load(dec, &f[SW_PREV_STATE], data));
		break;
	case RS_REC_WAKING:
	case RS_REC_WAKEUP:
	case RS_REC_WAKEUP_NEW:
		if (f[WK_SUCCESS].size && !load(dec, &f[WK_SUCCESS], data))
			return true;	/* kernels before 4.3 traced attempts that woke nobody */
		ev->type = (uint8_t)(RESCHED_EV_WAKING + (kind->record - RS_REC_WAKING));
		ev->pid = (int32_t)load(dec, &f[WK_PID], data);
		ev->wake.prio = (int16_t)load(dec, &f[WK_PRIO], data);
		ev->wake.target_cpu = (uint16_t)load(dec, &f[WK_CPU], data);
		ev->wake.waker_pid = waker = (int32_t)load(dec, &dec->pid, data);
		break;
	case RS_REC_MIGRATE:
		ev->type = RESCHED_EV_MIGRATE;
		ev->pid = (int32_t)load(dec, &f[MG_PID], data);
		ev->migrate.prio = (int16_t)load(dec, &f[MG_PRIO], data);
		ev->migrate.from_cpu = (uint16_t)load(dec, &f[MG_FROM], data);
		ev->migrate.to_cpu = (uint16_t)load(dec, &f[MG_TO], data);
		break;
	case RS_REC_FORK:
		ev->type = RESCHED_EV_FORK;
		ev->pid = (int32_t)load(dec, &f[FK_PARENT], data);
		ev->fork.child_pid = (int32_t)load(dec, &f[FK_CHILD], data);
		break;
	case RS_REC_EXEC:
		ev->type = RESCHED_EV_EXEC;
		ev->pid = (int32_t)load(dec, &f[EX_PID], data);
		break;
	case RS_REC_EXIT:
		ev->type = RESCHED_EV_EXIT;
		ev->pid = (int32_t)load(dec, &f[XT_PID], data);
		break;
	case RS_REC_PRIO:
		ev->type = RESCHED_EV_PRIO;
		ev->pid = (int32_t)load(dec, &f[PR_PID], data);
		ev->prio.old_prio = (int16_t)load(dec, &f[PR_OLD], data);
		ev->prio.new_prio = (int16_t)load(dec, &f[PR_NEW], data);
		break;
	case RS_REC_RUNTIME:
		ev->type = RESCHED_EV_RUNTIME;
		ev->pid = (int32_t)load(dec, &f[RT_PID], data);
		ev->runtime.runtime_ns = (uint64_t)load(dec, &f[RT_RUNTIME], data);
		if (f[RT_VRUNTIME].size)
			ev->runtime.vruntime_ns = (uint64_t)load(dec, &f[RT_VRUNTIME], data);
		break;
	case RS_REC_TRUTH:
	case RS_REC_START:
		ev->type = RESCHED_EV_TRUTH;
		ev->pid = (int32_t)load(dec, &f[TR_PID], data);
		ev->truth.queue_cpu = (uint16_t)load(dec, &f[TR_CPU], data);
		ev->truth.row = (uint8_t)load(dec, &f[TR_ROW], data);
		ev->truth.level = (uint8_t)load(dec, &f[TR_LEVEL], data);
		break;
	case RS_REC_IRQ_ENTRY:
	case RS_REC_IRQ_EXIT:
	case RS_REC_SOFTIRQ_ENTRY:
	case RS_REC_SOFTIRQ_EXIT:
		ev->type = RESCHED_EV_IRQ;
		ev->irq.nr = (uint16_t)load(dec, &f[IQ_NR], data);
		ev->irq.soft = kind->record >= RS_REC_SOFTIRQ_ENTRY;
		ev->irq.entry = kind->record == RS_REC_IRQ_ENTRY || kind->record == RS_REC_SOFTIRQ_ENTRY;
		break;
	case RS_REC_RENAME:
		ev->type = RESCHED_EV_COMM;
		ev->pid = (int32_t)load(dec, f[RN_PID].size ? &f[RN_PID] : &dec->pid, data);
		break;
	default:
		return true;
	}
	if (dec->own.count && (is_own(dec, ev->pid) || is_own(dec, waker)))
		ev->ctx |= RESCHED_CTX_OWN;
	return true;
}

/* The bytes of a text field: an array in place, or elsewhere in the record. Return: NULL when it lies outside. */
static const uint8_t *text_of(const struct rs_decoder *dec, const struct rs_field *f, const uint8_t *data, uint32_t len, uint32_t *ret_len)
{
	uint32_t where, off, size;

	if (!f->size)
		return NULL;
	if (!f->is_dynamic && !f->is_relative) {
		*ret_len = f->size;
		return data + f->offset;
	}
	where = rs_load_u32(data + f->offset, dec->swap);
	off = where & 0xffff;
	size = where >> 16;
	if (f->is_relative)
		off += (uint32_t)f->offset + f->size;
	if (!size || off > len || size > len - off)
		return NULL;
	*ret_len = size;
	return data + off;
}

/* State of one rs_decode_names() call. */
struct naming {
	const struct rs_decoder *dec;
	struct rs_comms *comms;
	const uint8_t *data;
	uint32_t len;
	const struct resched_event *ev;
	struct resched_event *out;
	int nr;		/* or -ENOMEM */
};

static void tell(struct naming *n, int32_t pid, uint32_t name, bool renamed)
{
	struct resched_event *out = &n->out[n->nr++];

	memset(out, 0, sizeof(*out));
	out->ts_ns = n->ev->ts_ns;
	out->cpu = n->ev->cpu;
	out->type = RESCHED_EV_COMM;
	out->pid = pid;
	out->ctx = n->ev->ctx & (uint8_t)~RESCHED_CTX_OWN;
	if (is_own(n->dec, pid))
		out->ctx |= RESCHED_CTX_OWN;
	out->comm.name = name;
	out->comm.renamed = renamed;
}

static void see_text(struct naming *n, int32_t pid, const uint8_t *text, uint32_t size, bool strong)
{
	uint32_t name = 0;
	bool renamed = false;
	int rc;

	if (n->nr < 0 || pid <= 0)
		return;
	rc = text ? rs_comms_see(n->comms, pid, text, size, strong, &name, &renamed) : rs_comms_fallback(n->comms, pid, &name);
	if (rc < 0)
		n->nr = rc;
	else if (rc)
		tell(n, pid, name, renamed);
}

/* The name that @f has of @pid; nearly always the one that is known. */
static inline void see(struct naming *n, int32_t pid, const struct rs_field *f, bool strong)
{
	const uint8_t *text;
	uint32_t size = 0;

	if (!pid || (f->size == COMM_BYTES && !f->is_dynamic && !f->is_relative && rs_comms_knows(n->comms, pid, n->data + f->offset, strong)))
		return;
	text = text_of(n->dec, f, n->data, n->len, &size);
	see_text(n, pid, text, size, strong);
}

/* After an exec a task is called as the last part of the path, 15 bytes of it. */
static void see_exec(struct naming *n, const struct rs_field *f)
{
	uint8_t comm[16] = { 0 };
	uint32_t size = 0;
	const uint8_t *path = text_of(n->dec, f, n->data, n->len, &size), *base;

	if (!path)
		return;
	size = (uint32_t)strnlen((const char *)path, size);
	base = memrchr(path, '/', size);
	if (base) {
		size -= (uint32_t)(base + 1 - path);
		path = base + 1;
	}
	memcpy(comm, path, size < 15 ? size : 15);
	see_text(n, n->ev->pid, comm, sizeof(comm), true);
}

int rs_decode_names(struct rs_decoder *dec, struct rs_comms *comms, const struct rs_kind *kind, const uint8_t *data, uint32_t len,
		    const struct resched_event *ev, struct resched_event *out, bool *ret_swallow, bool *rename_seen)
{
	struct naming n = { .dec = dec, .comms = comms, .data = data, .len = len, .ev = ev, .out = out };
	const struct rs_field *f = kind->f;

	*ret_swallow = false;
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		see(&n, ev->pid, &f[SW_PREV_COMM], true);
		see(&n, ev->sw.next_pid, &f[SW_NEXT_COMM], true);
		break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		if (comms->fallback.count)
			see_text(&n, ev->wake.waker_pid, NULL, 0, false);
		see(&n, ev->pid, &f[WK_COMM], false);
		break;
	case RESCHED_EV_MIGRATE:
		see(&n, ev->pid, &f[MG_COMM], false);
		break;
	case RESCHED_EV_FORK:
		see(&n, ev->pid, &f[FK_PARENT_COMM], false);
		rs_comms_forget(comms, ev->fork.child_pid);
		see(&n, ev->fork.child_pid, &f[FK_CHILD_COMM], false);
		break;
	case RESCHED_EV_EXEC:
		if (!*rename_seen)	/* else the rename before it told the name, exactly */
			see_exec(&n, &f[EX_FILE]);
		break;
	case RESCHED_EV_EXIT:
		see(&n, ev->pid, &f[XT_COMM], false);
		break;
	case RESCHED_EV_PRIO:
		see(&n, ev->pid, &f[PR_COMM], false);
		break;
	case RESCHED_EV_RUNTIME:
		see(&n, ev->pid, &f[RT_COMM], false);
		break;
	case RESCHED_EV_COMM:
		*rename_seen = true;
		see(&n, ev->pid, &f[RN_COMM], true);
		*ret_swallow = n.nr > 0;
		break;
	default:
		break;
	}
	return n.nr;
}

bool rs_decode_raw_state(const struct rs_decoder *dec, const struct rs_kind *kind, const uint8_t *data, uint32_t len, int32_t *ret_pid, uint64_t *ret_raw)
{
	if (kind->record != RS_REC_SWITCH || len < kind->min_len)
		return false;
	*ret_pid = (int32_t)load(dec, &kind->f[SW_PREV_PID], data);
	*ret_raw = (uint64_t)load(dec, &kind->f[SW_PREV_STATE], data);
	return true;
}
