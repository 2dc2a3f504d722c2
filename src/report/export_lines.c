// SPDX-License-Identifier: GPL-2.0-only
/* CSV and JSON lines: the same columns, of which an event has some. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/export.h"
#include "report/line.h"
#include "report/text.h"

enum column {
	COL_TS, COL_CPU, COL_EVENT, COL_CONTEXT, COL_PID, COL_COMM, COL_PRIO, COL_STATE, COL_NEXT_PID, COL_NEXT_COMM, COL_NEXT_PRIO,
	COL_WAKER_PID, COL_TARGET_CPU, COL_ORIG_CPU, COL_DEST_CPU, COL_CHILD_PID, COL_CHILD_COMM, COL_OLD_PRIO, COL_RUNTIME, COL_VRUNTIME,
	COL_LAG, COL_MISSED, COL_LOST, COL_NR,
};

static const char *const column_names[COL_NR] = {
	"ts_ns", "cpu", "event", "context", "pid", "comm", "prio", "state", "next_pid", "next_comm", "next_prio",
	"waker_pid", "target_cpu", "orig_cpu", "dest_cpu", "child_pid", "child_comm", "old_prio", "runtime_ns", "vruntime_ns",
	"lag_ns", "deadline_missed", "lost",
};

/* A value is a number, or a plain text of ours, or a name that is quoted already. */
struct value { enum { NONE = 0, SIGNED, UNSIGNED, WORD, NAME } kind; int64_t i; uint64_t u; const char *text; };

struct row { struct value v[COL_NR]; char state[RS_STATE_LEN], context[64]; };

static void set_int(struct row *r, enum column col, int64_t value)
{
	r->v[col] = (struct value){ .kind = SIGNED, .i = value };
}

static void set_u64(struct row *r, enum column col, uint64_t value)
{
	r->v[col] = (struct value){ .kind = UNSIGNED, .u = value };
}

static void set_word(struct row *r, enum column col, const char *text)
{
	r->v[col] = (struct value){ .kind = WORD, .text = text };
}

/* Both columns of a task; the idle task and those without a name have a pid only. */
static void set_task(struct resched_export *x, struct row *r, enum column pid_col, int32_t pid)
{
	const char *name = rs_export_name(x, pid);

	set_int(r, pid_col, pid);
	if (*name)
		r->v[pid_col + 1] = (struct value){ .kind = NAME, .text = name };
}

static void set_context(struct row *r, uint8_t ctx)
{
	static const struct { uint8_t bit; const char *word; } words[] = {
		{ RESCHED_CTX_HARDIRQ, "hardirq" }, { RESCHED_CTX_SOFTIRQ, "softirq" }, { RESCHED_CTX_NEED_RESCHED, "need_resched" },
		{ RESCHED_CTX_IRQS_OFF, "irqs_off" }, { RESCHED_CTX_OWN, "recorder" },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (ctx & words[i].bit)
			n += (size_t)snprintf(r->context + n, sizeof(r->context) - n, "%s%s", n ? "|" : "", words[i].word);
	}
	if (n)
		set_word(r, COL_CONTEXT, r->context);
}

static void fill(struct resched_export *x, struct row *r, const struct resched_event *ev)
{
	set_u64(r, COL_TS, ev->ts_ns);
	set_int(r, COL_CPU, ev->cpu);
	set_word(r, COL_EVENT, rs_export_event_name(ev));
	set_context(r, ev->ctx);
	if (ev->type != RESCHED_EV_OTHER && ev->type != RESCHED_EV_LOST && ev->type != RESCHED_EV_IRQ)
		set_task(x, r, COL_PID, ev->pid);
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		set_int(r, COL_PRIO, ev->sw.prev_prio);
		set_word(r, COL_STATE, rs_export_state(ev->sw.prev_state, r->state));
		set_task(x, r, COL_NEXT_PID, ev->sw.next_pid);
		set_int(r, COL_NEXT_PRIO, ev->sw.next_prio);
		break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		set_int(r, COL_PRIO, ev->wake.prio);
		set_int(r, COL_WAKER_PID, ev->wake.waker_pid);
		set_int(r, COL_TARGET_CPU, ev->wake.target_cpu);
		break;
	case RESCHED_EV_MIGRATE:
		set_int(r, COL_PRIO, ev->migrate.prio);
		set_int(r, COL_ORIG_CPU, ev->migrate.from_cpu);
		set_int(r, COL_DEST_CPU, ev->migrate.to_cpu);
		break;
	case RESCHED_EV_FORK:
		set_task(x, r, COL_CHILD_PID, ev->fork.child_pid);
		break;
	case RESCHED_EV_PRIO:
		set_int(r, COL_PRIO, ev->prio.new_prio);
		set_int(r, COL_OLD_PRIO, ev->prio.old_prio);
		break;
	case RESCHED_EV_RUNTIME:
		set_u64(r, COL_RUNTIME, ev->runtime.runtime_ns);
		if (ev->runtime.vruntime_ns)
			set_u64(r, COL_VRUNTIME, ev->runtime.vruntime_ns);
		break;
	case RESCHED_EV_LOST:
		if (ev->lost.count)
			set_u64(r, COL_LOST, ev->lost.count);
		break;
	default:
		break;
	}
}

static void fill_lag(struct resched_export *x, struct row *r, uint64_t ts_ns, const struct rs_lag *lag)
{
	set_u64(r, COL_TS, ts_ns);
	set_word(r, COL_EVENT, "lag");
	set_task(x, r, COL_PID, lag->pid);
	set_int(r, COL_LAG, lag->lag_ns);
	if (lag->missed)
		set_int(r, COL_MISSED, 1);
}

/* A name that an event tells is that event's own. */
static void note_name(struct resched_export *x, const struct resched_event *ev)
{
	if (ev->type == RESCHED_EV_COMM && ev->pid && rs_map_set(&x->comm, (uint32_t)ev->pid, ev->comm.name) < 0)
		x->failure = -ENOMEM;
}

/* ---- CSV */

static int csv_begin(struct resched_export *x)
{
	for (unsigned int i = 0; i < COL_NR; i++)
		fprintf(x->out, "%s%s", i ? "," : "", column_names[i]);
	fputc('\n', x->out);
	return 0;
}

static int csv_row(struct resched_export *x, const struct row *r)
{
	struct rs_line line;

	line.out = x->out;
	line.len = 0;
	for (unsigned int i = 0; i < COL_NR; i++) {
		const struct value *v = &r->v[i];

		if (i)
			rs_line_char(&line, ',');
		if (v->kind == SIGNED)
			rs_line_i64(&line, v->i);
		else if (v->kind == UNSIGNED)
			rs_line_u64(&line, v->u, 0);
		else if (v->kind)
			rs_line_text(&line, v->text);
	}
	rs_line_char(&line, '\n');
	rs_line_flush(&line);
	return x->failure;
}

static int csv_event(struct resched_export *x, const struct resched_event *ev)
{
	struct row r;

	memset(&r, 0, sizeof(r));
	note_name(x, ev);
	fill(x, &r, ev);
	return csv_row(x, &r);
}

static int csv_lag(struct resched_export *x, uint64_t ts_ns, const struct rs_lag *lag)
{
	struct row r;

	memset(&r, 0, sizeof(r));
	fill_lag(x, &r, ts_ns, lag);
	return csv_row(x, &r);
}

/* The name as rs_csv_field() writes it. */
static char *csv_name(const char *text)
{
	char *ret = NULL, *clean = rs_text_clean(text, 0);
	size_t size = 0;
	FILE *out = clean ? open_memstream(&ret, &size) : NULL;

	if (out) {
		rs_csv_field(out, clean);
		if (fclose(out) != 0) {
			free(ret);
			ret = NULL;
		}
	}
	free(clean);
	return ret;
}

/* ---- JSON */

static int json_begin(struct resched_export *x)
{
	(void)x;
	return 0;
}

static int json_row(struct resched_export *x, const struct row *r)
{
	struct rs_line line;
	char between = '{';

	line.out = x->out;
	line.len = 0;
	for (unsigned int i = 0; i < COL_NR; i++) {
		const struct value *v = &r->v[i];

		if (!v->kind)
			continue;
		rs_line_char(&line, between);
		rs_line_char(&line, '"');
		rs_line_text(&line, column_names[i]);
		rs_line_bytes(&line, "\":\"", v->kind == WORD ? 3 : 2);
		between = ',';
		if (v->kind == SIGNED)
			rs_line_i64(&line, v->i);
		else if (v->kind == UNSIGNED)
			rs_line_u64(&line, v->u, 0);
		else
			rs_line_text(&line, v->text);
		if (v->kind == WORD)
			rs_line_char(&line, '"');
	}
	rs_line_bytes(&line, "}\n", 2);
	rs_line_flush(&line);
	return x->failure;
}

static int json_event(struct resched_export *x, const struct resched_event *ev)
{
	struct row r;

	memset(&r, 0, sizeof(r));
	note_name(x, ev);
	fill(x, &r, ev);
	return json_row(x, &r);
}

static int json_lag(struct resched_export *x, uint64_t ts_ns, const struct rs_lag *lag)
{
	struct row r;

	memset(&r, 0, sizeof(r));
	fill_lag(x, &r, ts_ns, lag);
	return json_row(x, &r);
}

static char *json_name(const char *text)
{
	char *clean = rs_utf8_clean(text), *ret = NULL, *to;
	size_t size = clean ? 6 * strlen(clean) + 3 : 0;

	if (clean)
		ret = to = malloc(size);
	if (ret) {
		*to++ = '"';
		for (const char *p = clean; *p; p++) {
			if ((unsigned char)*p < ' ')
				to += snprintf(to, 7, "\\u%04x", (unsigned int)(unsigned char)*p);
			else if (*p == '"' || *p == '\\')
				to += snprintf(to, 3, "\\%c", *p);
			else
				*to++ = *p;
		}
		*to++ = '"';
		*to = '\0';
	}
	free(clean);
	return ret;
}

static int nothing_left(struct resched_export *x)
{
	(void)x;
	return 0;
}

const struct rs_export_ops rs_export_csv = { .begin = csv_begin, .event = csv_event, .lag = csv_lag, .end = nothing_left, .name = csv_name };
const struct rs_export_ops rs_export_json = { .begin = json_begin, .event = json_event, .lag = json_lag, .end = nothing_left, .name = json_name };
