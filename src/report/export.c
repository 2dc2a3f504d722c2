// SPDX-License-Identifier: GPL-2.0-only
#include "report/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/state.h"
#include "base/error.h"

static const struct rs_export_ops *const formats[] = {
	[RESCHED_EXPORT_PERFETTO] = &rs_export_perfetto, [RESCHED_EXPORT_CSV] = &rs_export_csv, [RESCHED_EXPORT_JSON] = &rs_export_json,
	[RESCHED_EXPORT_TEXT] = &rs_export_text, [RESCHED_EXPORT_HTML] = &rs_export_html,
};

int resched_export_new(FILE *out, enum resched_export_format format, const struct resched_host *host, const struct resched_names *names,
		       unsigned int nr_cpus, struct resched_export **ret, struct resched_error *err)
{
	struct resched_export *x;

	if ((size_t)format >= sizeof(formats) / sizeof(formats[0]))
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "there is no export format number %d", (int)format);
	x = calloc(1, sizeof(*x));
	if (!x)
		return rs_error_nomem(err);
	x->out = out;
	x->ops = formats[format];
	x->host = host;
	x->names = names;
	x->nr_cpus = nr_cpus;
	if (x->ops->begin(x) < 0) {
		resched_export_free(x);
		return rs_error_nomem(err);
	}
	*ret = x;
	return 0;
}

const char *rs_export_name(struct resched_export *x, int32_t pid)
{
	uint32_t name = pid ? rs_map_get(&x->comm, (uint32_t)pid) : RS_MAP_NONE;

	if (name == RS_MAP_NONE)
		return "";
	if (name >= x->nr_cached) {
		uint32_t nr = name + 64;
		char **grown = realloc(x->cached, nr * sizeof(*grown));

		if (!grown) {
			x->failure = -ENOMEM;
			return "";
		}
		memset(grown + x->nr_cached, 0, (nr - x->nr_cached) * sizeof(*grown));
		x->cached = grown;
		x->nr_cached = nr;
	}
	if (!x->cached[name]) {
		x->cached[name] = x->ops->name(resched_names_get(x->names, name));
		if (!x->cached[name]) {
			x->failure = -ENOMEM;
			return "";
		}
	}
	return x->cached[name];
}

int32_t rs_export_curr(const struct resched_export *x, unsigned int cpu)
{
	uint32_t pid = rs_map_get(&x->curr, cpu);

	return pid == RS_MAP_NONE ? 0 : (int32_t)pid;
}

const char *rs_export_event_name(const struct resched_event *ev)
{
	static const char *const names[RESCHED_EV_NR] = {
		[RESCHED_EV_SWITCH] = "sched_switch", [RESCHED_EV_WAKING] = "sched_waking", [RESCHED_EV_WAKEUP] = "sched_wakeup",
		[RESCHED_EV_WAKEUP_NEW] = "sched_wakeup_new", [RESCHED_EV_MIGRATE] = "sched_migrate_task",
		[RESCHED_EV_FORK] = "sched_process_fork", [RESCHED_EV_EXEC] = "sched_process_exec", [RESCHED_EV_EXIT] = "sched_process_exit",
		[RESCHED_EV_PRIO] = "sched_pi_setprio", [RESCHED_EV_RUNTIME] = "sched_stat_runtime", [RESCHED_EV_LOST] = "lost",
		[RESCHED_EV_TRUTH] = "sched_truth",
	};

	if (ev->type == RESCHED_EV_IRQ)
		return ev->irq.soft ? ev->irq.entry ? "softirq_entry" : "softirq_exit" : ev->irq.entry ? "irq_handler_entry" : "irq_handler_exit";
	if (ev->type == RESCHED_EV_COMM)
		return ev->comm.renamed ? "task_rename" : "task_name";
	return ev->type < RESCHED_EV_NR && names[ev->type] ? names[ev->type] : "other";
}

const char *rs_export_state(uint32_t state, char buf[RS_STATE_LEN])
{
	static const char letters[] = "SDTtXZPIK";	/* of the bits from the lowest */
	size_t n = 0;

	for (unsigned int i = 0; letters[i]; i++) {
		if (!(state >> i & 1))
			continue;
		if (n)
			buf[n++] = '|';
		buf[n++] = letters[i];
	}
	if (!n)
		buf[n++] = 'R';
	if (state & RESCHED_STATE_PREEMPT)
		buf[n++] = '+';
	buf[n] = '\0';
	return buf;
}

int rs_export_failed(const struct resched_export *x)
{
	if (!ferror(x->out))
		return 0;
	return errno ? -errno : -EIO;
}

static int put_lags(struct resched_export *x, uint64_t ts_ns)
{
	int rc = 0;

	for (unsigned int i = 0; i < x->nr_lags && rc == 0 && x->ops->lag; i++)
		rc = x->ops->lag(x, ts_ns, &x->lags[i]);
	x->nr_lags = 0;
	return rc;
}

int resched_export_event(void *exporter, const struct resched_event *ev)
{
	struct resched_export *x = exporter;
	int rc = 0;

	if (x->failure)
		return x->failure;
	errno = 0;
	if (x->nr_lags)
		rc = put_lags(x, ev->ts_ns);
	if (rc == 0)
		rc = x->ops->event(x, ev);
	if (rc == 0 && ev->type == RESCHED_EV_COMM && ev->pid)
		rc = rs_map_set(&x->comm, (uint32_t)ev->pid, ev->comm.name);
	if (rc == 0 && ev->type == RESCHED_EV_SWITCH)
		rc = rs_map_set(&x->curr, ev->cpu, (uint32_t)ev->sw.next_pid);
	if (rc == 0)
		rc = rs_export_failed(x);
	if (rc < 0 && !x->failure)
		x->failure = rc;
	return x->failure;
}

static void take_lag(void *ctx, int pid, int64_t lag_ns, int missed)
{
	struct resched_export *x = ctx;

	if (x->nr_lags < RS_EXPORT_LAGS)
		x->lags[x->nr_lags++] = (struct rs_lag){ pid, lag_ns, missed != 0 };
}

int resched_export_watch(struct resched_export *x, struct resched_analysis *analysis, struct resched_error *err)
{
	const struct an_observer observer = { .ctx = x, .lag = take_lag };
	int rc = an_observe(analysis, &observer);

	return rc < 0 ? rs_error_set(err, RESCHED_FAILED, rc, "too many look on at one analysis") : 0;
}

int resched_export_finish(struct resched_export *x, struct resched_error *err)
{
	int rc = x->failure;

	errno = 0;
	if (rc == 0)
		rc = x->ops->end(x);
	if (rc == -ENOMEM)
		return rs_error_nomem(err);
	if (rc == 0)
		rc = rs_export_failed(x);
	if (rc == 0 && fflush(x->out) != 0)
		rc = errno ? -errno : -EIO;
	if (rc < 0)
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot write the output:");
	return 0;
}

void resched_export_free(struct resched_export *x)
{
	if (!x)
		return;
	if (x->ops->release)
		x->ops->release(x);
	for (uint32_t i = 0; i < x->nr_cached; i++)
		free(x->cached[i]);
	free(x->cached);
	rs_map_release(&x->comm);
	rs_map_release(&x->curr);
	free(x);
}
