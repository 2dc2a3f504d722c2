// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text as the kernel's file `trace` shows it, with times in ns. Names stand in the lines of events, as in the kernel: one that the
 * next line does not carry gets a line of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/event_names.h"
#include "report/export.h"
#include "report/line.h"

#define PENDING 64u	/* names that wait for a line */

struct text { struct rs_line line; unsigned int nr; struct resched_event pending[PENDING]; };

static struct rs_line *line_of(struct resched_export *x)
{
	return &((struct text *)x->priv)->line;
}

static int text_begin(struct resched_export *x)
{
	x->priv = calloc(1, sizeof(struct text));
	if (!x->priv)
		return -ENOMEM;
	line_of(x)->out = x->out;
	fputs("# tracer: nop\n#\n", x->out);
	if (x->nr_cpus)
		fprintf(x->out, "#                                                     #P:%u\n#\n", x->nr_cpus);
	fputs("#                                _-----=> irqs-off\n"
	      "#                               / _----=> need-resched\n"
	      "#                              | / _---=> hardirq/softirq\n"
	      "#                              || / _--=> preempt-depth\n"
	      "#                              ||| / _-=> migrate-disable\n"
	      "#                              |||| /     delay\n"
	      "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
	      "#              | |         |   |||||     |         |\n", x->out);
	return 0;
}

static const char *comm_of(struct resched_export *x, int32_t pid)
{
	const char *name = rs_export_name(x, pid);

	return *name ? name : "<...>";
}

/* "KEY", which ends in '=', and a number behind it. */
static void put_int(struct rs_line *l, const char *key, int64_t value)
{
	rs_line_text(l, key);
	rs_line_i64(l, value);
}

static void put_u64(struct rs_line *l, const char *key, uint64_t value)
{
	rs_line_text(l, key);
	rs_line_u64(l, value, 0);
}

/* A name inside of a line: idle tasks have one each. */
static void put_comm(struct resched_export *x, const char *key, int32_t pid, unsigned int cpu)
{
	struct rs_line *l = line_of(x);

	rs_line_text(l, key);
	if (pid)
		rs_line_text(l, comm_of(x, pid));
	else
		put_u64(l, "swapper/", cpu);
}

/* The width of a column counts bytes, as in the kernel. */
static void put_head(struct resched_export *x, const struct resched_event *ev, const char *event, int32_t pid)
{
	bool hard = ev->ctx & RESCHED_CTX_HARDIRQ, soft = ev->ctx & RESCHED_CTX_SOFTIRQ;
	const char *comm = pid ? comm_of(x, pid) : "<idle>";
	struct rs_line *l = line_of(x);
	size_t before;

	rs_line_pad(l, strlen(comm), 16);
	rs_line_text(l, comm);
	rs_line_char(l, '-');
	before = l->len;
	rs_line_i64(l, pid);
	rs_line_pad(l, l->len - before, 7);
	rs_line_text(l, " [");
	rs_line_u64(l, ev->cpu, 3);
	rs_line_text(l, "] ");
	rs_line_char(l, ev->ctx & RESCHED_CTX_IRQS_OFF ? 'd' : '.');
	rs_line_char(l, ev->ctx & RESCHED_CTX_NEED_RESCHED ? 'N' : '.');
	rs_line_char(l, hard && soft ? 'H' : hard ? 'h' : soft ? 's' : '.');
	rs_line_text(l, ".. ");
	for (uint64_t least = 10000; least > 1 && ev->ts_ns / 1000000000 < least; least /= 10)
		rs_line_char(l, ' ');
	rs_line_u64(l, ev->ts_ns / 1000000000, 0);
	rs_line_char(l, '.');
	rs_line_u64(l, ev->ts_ns % 1000000000, 9);
	rs_line_text(l, ": ");
	rs_line_text(l, event);
	rs_line_text(l, ": ");
}

static void put_end(struct resched_export *x)
{
	rs_line_char(line_of(x), '\n');
	rs_line_flush(line_of(x));
}

static void put_rename(struct resched_export *x, const struct resched_event *ev, const char *before)
{
	struct rs_line *l = line_of(x);

	put_head(x, ev, "task_rename", ev->pid);
	put_int(l, "pid=", ev->pid);
	rs_line_text(l, " oldcomm=");
	rs_line_text(l, before);
	put_comm(x, " newcomm=", ev->pid, ev->cpu);
	rs_line_text(l, " oom_score_adj=0");
	put_end(x);
}

/* The names told before @ev, which is about to be written. Wakers are named at the head of the line. */
static void settle_names(struct resched_export *x, const struct resched_event *ev)
{
	struct text *t = x->priv;

	for (unsigned int i = 0; i < t->nr; i++) {
		int32_t pid = t->pending[i].pid;

		if (!rs_event_names(ev, pid) && !(rs_event_is_wake(ev) && ev->wake.waker_pid == pid))
			put_rename(x, &t->pending[i], "<...>");
	}
	t->nr = 0;
}

static int take_name(struct resched_export *x, const struct resched_event *ev)
{
	struct text *t = x->priv;
	const char *before = comm_of(x, ev->pid);

	if (rs_map_set(&x->comm, (uint32_t)ev->pid, ev->comm.name) < 0)
		return -ENOMEM;
	if (ev->comm.renamed || t->nr == PENDING)
		put_rename(x, ev, before);
	else
		t->pending[t->nr++] = *ev;
	return x->failure;
}

/* Who ran when it happened. */
static int32_t owner(const struct resched_export *x, const struct resched_event *ev)
{
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
	case RESCHED_EV_FORK:
	case RESCHED_EV_EXEC:
	case RESCHED_EV_EXIT:
		return ev->pid;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		return ev->wake.waker_pid;
	default:
		return rs_export_curr(x, ev->cpu);
	}
}

static void put_body(struct resched_export *x, const struct resched_event *ev)
{
	struct rs_line *l = line_of(x);
	char state[RS_STATE_LEN];

	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		put_comm(x, "prev_comm=", ev->pid, ev->cpu);
		put_int(l, " prev_pid=", ev->pid);
		put_int(l, " prev_prio=", ev->sw.prev_prio);
		rs_line_text(l, " prev_state=");
		rs_line_text(l, rs_export_state(ev->sw.prev_state, state));
		put_comm(x, " ==> next_comm=", ev->sw.next_pid, ev->cpu);
		put_int(l, " next_pid=", ev->sw.next_pid);
		put_int(l, " next_prio=", ev->sw.next_prio);
		break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		put_comm(x, "comm=", ev->pid, ev->cpu);
		put_int(l, " pid=", ev->pid);
		put_int(l, " prio=", ev->wake.prio);
		rs_line_text(l, " target_cpu=");
		rs_line_u64(l, ev->wake.target_cpu, 3);
		break;
	case RESCHED_EV_MIGRATE:
		put_comm(x, "comm=", ev->pid, ev->cpu);
		put_int(l, " pid=", ev->pid);
		put_int(l, " prio=", ev->migrate.prio);
		put_int(l, " orig_cpu=", ev->migrate.from_cpu);
		put_int(l, " dest_cpu=", ev->migrate.to_cpu);
		break;
	case RESCHED_EV_FORK:
		put_comm(x, "comm=", ev->pid, ev->cpu);
		put_int(l, " pid=", ev->pid);
		put_comm(x, " child_comm=", ev->fork.child_pid, ev->cpu);
		put_int(l, " child_pid=", ev->fork.child_pid);
		break;
	case RESCHED_EV_EXEC:
		rs_line_text(l, "filename=");
		rs_line_text(l, comm_of(x, ev->pid));
		put_int(l, " pid=", ev->pid);
		put_int(l, " old_pid=", ev->pid);
		break;
	case RESCHED_EV_EXIT:
		put_comm(x, "comm=", ev->pid, ev->cpu);
		put_int(l, " pid=", ev->pid);
		rs_line_text(l, " prio=120");
		break;
	case RESCHED_EV_PRIO:
		put_comm(x, "comm=", ev->pid, ev->cpu);
		put_int(l, " pid=", ev->pid);
		put_int(l, " oldprio=", ev->prio.old_prio);
		put_int(l, " newprio=", ev->prio.new_prio);
		break;
	case RESCHED_EV_RUNTIME:
		put_comm(x, "comm=", ev->pid, ev->cpu);
		put_int(l, " pid=", ev->pid);
		put_u64(l, " runtime=", ev->runtime.runtime_ns);
		rs_line_text(l, " [ns]");
		if (ev->runtime.vruntime_ns) {
			put_u64(l, " vruntime=", ev->runtime.vruntime_ns);
			rs_line_text(l, " [ns]");
		}
		break;
	case RESCHED_EV_IRQ:
		put_int(l, ev->irq.soft ? "vec=" : "irq=", ev->irq.nr);
		break;
	default:
		break;
	}
}

static void put_lost(struct resched_export *x, const struct resched_event *ev)
{
	struct rs_line *l = line_of(x);

	put_u64(l, "CPU:", ev->cpu);
	rs_line_text(l, " [LOST ");
	if (ev->lost.count) {
		rs_line_u64(l, ev->lost.count, 0);
		rs_line_char(l, ' ');
	}
	rs_line_text(l, "EVENTS]");
	put_end(x);
}

static int text_event(struct resched_export *x, const struct resched_event *ev)
{
	if (ev->type == RESCHED_EV_COMM)
		return ev->pid ? take_name(x, ev) : 0;
	settle_names(x, ev);
	if (ev->type == RESCHED_EV_LOST) {
		put_lost(x, ev);
		return x->failure;
	}
	put_head(x, ev, rs_export_event_name(ev), owner(x, ev));
	put_body(x, ev);
	put_end(x);
	return x->failure;
}

static int text_end(struct resched_export *x)
{
	struct resched_event end = { .type = RESCHED_EV_NR };	/* names nobody */

	settle_names(x, &end);
	return x->failure;
}

static void text_release(struct resched_export *x)
{
	free(x->priv);
}

/* Bytes as they are, but for those that would end the line. */
static char *text_name(const char *text)
{
	char *ret = strdup(text);

	for (char *p = ret; p && *p; p++) {
		if ((unsigned char)*p < ' ')
			*p = '?';
	}
	return ret;
}

const struct rs_export_ops rs_export_text = {
	.begin = text_begin, .event = text_event, .end = text_end, .release = text_release, .name = text_name,
};
