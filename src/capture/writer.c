// SPDX-License-Identifier: GPL-2.0-only
/* From events to records. The place of names is told in writer_names.h. */
#include "capture/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/event_names.h"

static int page_sink(void *ctx, unsigned int idx, const void *pages, uint32_t bytes)
{
	return rs_spool_append(ctx, idx, pages, bytes);
}

int resched_writer_new(const char *path, const struct resched_host *host, const struct resched_names *names,
		       const struct resched_writer_options *opts, struct resched_writer **ret, struct resched_error *err)
{
	struct resched_writer *w = calloc(1, sizeof(*w));
	unsigned int *ids = malloc(RS_MAX_CPUS * sizeof(*ids));
	const char *clock = opts && opts->clock ? opts->clock : host && host->clock ? host->clock : "mono";
	int rc;

	if (!w || !ids) {
		free(w);
		free(ids);
		return rs_error_nomem(err);
	}
	w->host = host;
	w->names = names;
	w->nr_cpus = opts && opts->nr_cpus <= RS_MAX_CPUS ? opts->nr_cpus : 0;
	w->compress = opts && opts->compress;
	snprintf(w->clock, sizeof(w->clock), "%s", clock);
	for (unsigned int i = 0; i < RS_MAX_CPUS; i++)
		ids[i] = i;
	rc = rs_output_open(&w->out, path, err);
	if (rc == 0)
		rc = rs_spool_prepare(&w->spool, w->out.dir, RS_MAX_CPUS, ids, 0, err);
	if (rc == 0) {
		w->spool.page_bytes = RS_WR_PAGE;
		w->cpus = calloc(RS_MAX_CPUS, sizeof(*w->cpus));
		if (!w->cpus)
			rc = rs_error_nomem(err);
	}
	free(ids);
	if (rc < 0) {
		resched_writer_free(w);
		return rc;
	}
	*ret = w;
	return 0;
}

static uint8_t flags_of(uint8_t ctx)
{
	return (uint8_t)((ctx & RESCHED_CTX_IRQS_OFF ? RS_WR_FLAG_IRQS_OFF : 0) | (ctx & RESCHED_CTX_NEED_RESCHED ? RS_WR_FLAG_RESCHED : 0) |
			 (ctx & RESCHED_CTX_HARDIRQ ? RS_WR_FLAG_HARDIRQ : 0) | (ctx & RESCHED_CTX_SOFTIRQ ? RS_WR_FLAG_SOFTIRQ : 0));
}

/* The kernel's bits from S to I are those of RESCHED_STATE_*. */
static int64_t raw_state(uint32_t state)
{
	return (int64_t)((state & 0xff) | (state & RESCHED_STATE_OTHER ? RS_WR_STATE_OTHER : 0) |
			 (state & RESCHED_STATE_PREEMPT ? RS_WR_STATE_PREEMPT : 0));
}

static struct rs_wr_cpu *cpu_of(struct resched_writer *w, unsigned int cpu)
{
	struct rs_wr_cpu *c = &w->cpus[cpu];

	if (!c->pages.batch && rs_page_writer_init(&c->pages, cpu, RS_WR_PAGE, page_sink, &w->spool) < 0)
		return NULL;
	return c;
}

/* Room for a record with its common fields filled; NULL after a failure. @pid: who ran when it happened. */
static void *begin(struct resched_writer *w, const struct resched_event *ev, enum rs_wr_kind kind, uint32_t len, int32_t pid)
{
	struct rs_wr_cpu *c = cpu_of(w, ev->cpu);
	struct rs_wr_common common = { .type = rs_wr_id(kind), .flags = flags_of(ev->ctx), .pid = pid };
	uint8_t *data;

	if (!c) {
		w->failure = -ENOMEM;
		return NULL;
	}
	data = rs_page_writer_event(&c->pages, ev->ts_ns, len);
	if (!data) {
		w->failure = c->pages.failure;
		return NULL;
	}
	memcpy(data, &common, sizeof(common));
	c->open_gap = false;
	c->events++;
	w->result.events++;
	return data;
}

/* Records are filled apart and copied, since their place in a page has any alignment. */
static void put(struct resched_writer *w, const struct resched_event *ev, enum rs_wr_kind kind, void *record, uint32_t len, int32_t pid)
{
	uint8_t *data = begin(w, ev, kind, len, pid);

	if (data)
		memcpy(data + sizeof(struct rs_wr_common), (uint8_t *)record + sizeof(struct rs_wr_common), len - sizeof(struct rs_wr_common));
}
#define PUT(w, ev, kind, record, pid) put(w, ev, kind, &(record), sizeof(record), pid)

static void comm(struct resched_writer *w, const struct resched_event *ev, int32_t pid, char to[RS_WR_COMM])
{
	if (rs_wr_comm(&w->tasks, pid, ev->cpu, to) < 0)
		w->failure = -ENOMEM;
}

static void note_prio(struct resched_writer *w, int32_t pid, int16_t prio)
{
	struct rs_wr_task *task = pid ? rs_wr_task(&w->tasks, pid) : NULL;

	if (task)
		task->prio = prio;
}

/* ---- names */

/* Tell a name by a record of its own. */
static void put_rename(struct resched_writer *w, const struct resched_event *ev, const char *oldcomm)
{
	struct rs_wr_rename r = { .pid = ev->pid };

	rs_wr_set_comm(r.oldcomm, oldcomm);
	comm(w, ev, ev->pid, r.newcomm);
	PUT(w, ev, RS_WR_RENAME, r, ev->pid);
}

/* The names told before @ev, which is about to be written. */
static void settle_names(struct resched_writer *w, const struct resched_event *ev)
{
	for (unsigned int i = 0; i < w->nr_pending && !w->failure; i++) {
		const struct resched_event *told = &w->pending[i];
		struct rs_wr_task *task;

		if (rs_event_names(ev, told->pid))
			continue;
		task = rs_wr_task(&w->tasks, told->pid);
		if (!task) {
			w->failure = -ENOMEM;
		} else if (rs_event_is_wake(ev) && ev->wake.waker_pid == told->pid && !task->told && !task->early) {
			/* readers know wakers from the list of command lines alone */
			task->early = true;
			memcpy(task->early_comm, task->comm, RS_WR_COMM);
		} else {
			put_rename(w, told, "<...>");
		}
	}
	w->nr_pending = 0;
}

static void take_name(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_task *task = rs_wr_task(&w->tasks, ev->pid);
	char before[RS_WR_COMM];

	if (!task) {
		w->failure = -ENOMEM;
		return;
	}
	memcpy(before, task->comm, RS_WR_COMM);
	rs_wr_set_comm(task->comm, resched_names_get(w->names, ev->comm.name));
	task->named = true;
	task->own |= (ev->ctx & RESCHED_CTX_OWN) != 0;
	if (ev->comm.renamed || w->nr_pending == RS_WR_PENDING)
		put_rename(w, ev, *before ? before : "<...>");
	else
		w->pending[w->nr_pending++] = *ev;
}

/* ---- events */

static void put_switch(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_switch r = { .prev_pid = ev->pid, .prev_prio = ev->sw.prev_prio, .prev_state = raw_state(ev->sw.prev_state),
				  .next_pid = ev->sw.next_pid, .next_prio = ev->sw.next_prio };

	comm(w, ev, ev->pid, r.prev_comm);
	comm(w, ev, ev->sw.next_pid, r.next_comm);
	note_prio(w, ev->sw.next_pid, ev->sw.next_prio);
	w->cpus[ev->cpu].curr = ev->sw.next_pid;
	PUT(w, ev, RS_WR_SWITCH, r, ev->pid);
}

static void put_wake(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_wake r = { .pid = ev->pid, .prio = ev->wake.prio, .target_cpu = ev->wake.target_cpu };

	comm(w, ev, ev->pid, r.comm);
	note_prio(w, ev->pid, ev->wake.prio);
	PUT(w, ev, (enum rs_wr_kind)(RS_WR_WAKING + (ev->type - RESCHED_EV_WAKING)), r, ev->wake.waker_pid);
}

static void put_migrate(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_migrate r = { .pid = ev->pid, .prio = ev->migrate.prio, .orig_cpu = ev->migrate.from_cpu, .dest_cpu = ev->migrate.to_cpu };

	comm(w, ev, ev->pid, r.comm);
	PUT(w, ev, RS_WR_MIGRATE, r, w->cpus[ev->cpu].curr);
}

static void put_fork(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_fork r = { .parent_pid = ev->pid, .child_pid = ev->fork.child_pid };

	comm(w, ev, ev->pid, r.parent_comm);
	comm(w, ev, ev->fork.child_pid, r.child_comm);
	PUT(w, ev, RS_WR_FORK, r, ev->pid);
}

static void put_exec(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_exec r = { .pid = ev->pid, .old_pid = ev->pid };

	comm(w, ev, ev->pid, r.filename);
	PUT(w, ev, RS_WR_EXEC, r, ev->pid);
}

static void put_exit(struct resched_writer *w, const struct resched_event *ev)
{
	const struct rs_wr_task *task = rs_wr_task(&w->tasks, ev->pid);
	struct rs_wr_exit r = { .pid = ev->pid, .prio = task ? task->prio : 0 };

	comm(w, ev, ev->pid, r.comm);
	PUT(w, ev, RS_WR_EXIT, r, ev->pid);
}

static void put_prio(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_prio r = { .pid = ev->pid, .oldprio = ev->prio.old_prio, .newprio = ev->prio.new_prio };

	comm(w, ev, ev->pid, r.comm);
	note_prio(w, ev->pid, ev->prio.new_prio);
	PUT(w, ev, RS_WR_PRIO, r, w->cpus[ev->cpu].curr);
}

static void put_runtime(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_runtime r = { .pid = ev->pid, .runtime = ev->runtime.runtime_ns, .vruntime = ev->runtime.vruntime_ns };

	comm(w, ev, ev->pid, r.comm);
	PUT(w, ev, RS_WR_RUNTIME, r, w->cpus[ev->cpu].curr);
}

static void put_other(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_other r = { .nothing = 0 };

	PUT(w, ev, RS_WR_OTHER, r, w->cpus[ev->cpu].curr);
}

static void put_lost(struct resched_writer *w, const struct resched_event *ev)
{
	struct rs_wr_cpu *c = cpu_of(w, ev->cpu);

	if (!c) {
		w->failure = -ENOMEM;
		return;
	}
	rs_page_writer_lost(&c->pages, ev->lost.count);
	c->lost += ev->lost.count ? ev->lost.count : 1;
	c->open_gap = true;
	c->gap_ns = ev->ts_ns;
	if (c->pages.failure)
		w->failure = c->pages.failure;
}

static void take(struct resched_writer *w, const struct resched_event *ev, const struct resched_truth *truth)
{
	struct rs_wr_truth row;

	if (ev->type == RESCHED_EV_COMM) {
		take_name(w, ev);
		return;
	}
	settle_names(w, ev);
	if ((ev->ctx & RESCHED_CTX_OWN) && ev->pid && !rs_event_is_wake(ev)) {
		struct rs_wr_task *task = rs_wr_task(&w->tasks, ev->pid);

		if (task)
			task->own = true;
	}
	switch (ev->type) {
	case RESCHED_EV_SWITCH: put_switch(w, ev); break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW: put_wake(w, ev); break;
	case RESCHED_EV_MIGRATE: put_migrate(w, ev); break;
	case RESCHED_EV_FORK: put_fork(w, ev); break;
	case RESCHED_EV_EXEC: put_exec(w, ev); break;
	case RESCHED_EV_EXIT: put_exit(w, ev); break;
	case RESCHED_EV_PRIO: put_prio(w, ev); break;
	case RESCHED_EV_RUNTIME: put_runtime(w, ev); break;
	case RESCHED_EV_LOST: put_lost(w, ev); break;
	case RESCHED_EV_TRUTH:
		if (truth) {
			memset(&row, 0, sizeof(row));
			row.row = *truth;
			PUT(w, ev, RS_WR_TRUTH, row, w->cpus[ev->cpu].curr);
		} else {
			w->result.left_out++;
		}
		break;
	default: put_other(w, ev); break;
	}
}

int resched_writer_truth(struct resched_writer *w, const struct resched_event *ev, const struct resched_truth *truth)
{
	if (!w->failure && ev->cpu >= RS_MAX_CPUS)
		w->failure = -EINVAL;
	if (!w->failure)
		take(w, ev, truth);
	return w->failure;
}

int resched_writer_event(void *writer, const struct resched_event *ev)
{
	return resched_writer_truth(writer, ev, NULL);
}

/* A loss that ends a cpu's events is followed by one more, so that its silence is not taken for idleness. */
static int flush_cpu(struct resched_writer *w, unsigned int cpu)
{
	struct rs_wr_cpu *c = &w->cpus[cpu];

	if (!c->pages.batch)
		return 0;
	if (c->open_gap) {
		struct resched_event ev = { .ts_ns = c->gap_ns, .cpu = (uint16_t)cpu, .type = RESCHED_EV_OTHER };

		put_other(w, &ev);
	}
	return w->failure ? w->failure : rs_page_writer_flush(&c->pages);
}

static int flush_all(struct resched_writer *w)
{
	if (w->nr_pending) {
		struct resched_event end = { .type = RESCHED_EV_NR };	/* names nobody */

		settle_names(w, &end);
	}
	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS && !w->failure; cpu++)
		w->failure = flush_cpu(w, cpu);
	return w->failure;
}

int resched_writer_finish(struct resched_writer *w, const struct resched_schedule *schedule, struct resched_writer_result *ret,
			  struct resched_error *err)
{
	int rc;

	if (w->finished)
		return rs_error_set(err, RESCHED_FAILED, -EINVAL, "'%s' is written already", w->out.path);
	w->finished = true;
	if (flush_all(w) == -ENOMEM)
		return rs_error_nomem(err);
	if (w->failure == -EINVAL)
		return rs_error_set(err, RESCHED_FAILED, -EINVAL, "cannot write '%s': an event is of a cpu above %u", w->out.path, RS_MAX_CPUS - 1);
	if (w->failure)
		return rs_error_set(err, RESCHED_FAILED, w->failure, "cannot write '%s':", w->out.path);
	rc = rs_wr_file(w, schedule, err);
	if (rc == 0)
		rc = rs_output_publish(&w->out, err);
	if (rc == 0 && ret)
		*ret = w->result;
	return rc;
}

void resched_writer_free(struct resched_writer *w)
{
	if (!w)
		return;
	for (unsigned int cpu = 0; w->cpus && cpu < RS_MAX_CPUS; cpu++) {
		if (w->cpus[cpu].pages.batch)
			rs_page_writer_release(&w->cpus[cpu].pages);
	}
	free(w->cpus);
	rs_wr_tasks_release(&w->tasks);
	rs_spool_release(&w->spool);
	rs_output_release(&w->out);
	free(w);
}
