// SPDX-License-Identifier: GPL-2.0-only
#include "tui/build.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define REPLAY_NICE 5		/* keys come first where cpus are few */
#define LET_GO_EVERY 256u	/* events a builder adds between two chances for the screen: well below a millisecond */

static int nomem(struct resched_error *err)
{
	*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
	return -ENOMEM;
}

static void ring(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return;	/* full: it rings already */
}

/* Signals are for the thread that has the terminal. */
static int quiet_thread(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* ---- builders ---- */

static void let_go(struct sched *s)
{
	pthread_mutex_unlock(&s->lock);
	while (atomic_load(s->wanted) && !atomic_load(&s->cancel))
		sched_yield();
	pthread_mutex_lock(&s->lock);
}

int sched_set_up(struct sched *s, const struct resched_host *host, struct resched_names *names)
{
	struct resched_analysis_options opts = { .host = host, .names = names };
	struct resched_outlier_options top = { .top = TOP_OUTLIERS };
	int rc = resched_analysis_new(&opts, &s->analysis, &s->err);

	if (rc == 0)
		rc = resched_outliers_new(s->analysis, &top, &s->outliers, &s->err);
	if (rc == 0)
		rc = resched_index_new(s->analysis, &s->index, &s->err);
	return rc;
}

int sched_add_event(struct sched *s, const struct resched_event *event)
{
	uint64_t nr = atomic_fetch_add(&s->nr_events, 1);

	if (atomic_load(&s->cancel))
		return -ECANCELED;
	if (nr % LET_GO_EVERY == 0)
		let_go(s);
	return resched_analysis_event(s->analysis, event);
}

/* All events have come. */
static int sched_sum_up(struct sched *s)
{
	int rc = resched_analysis_finish(s->analysis, &s->report, &s->err);

	if (rc >= 0)
		resched_outliers_sort(s->outliers);
	return rc;
}

static void sched_end(struct sched *s, int rc)
{
	if (rc < 0 && !*s->err.text)
		snprintf(s->err.text, sizeof(s->err.text), "%s", rc == -ECANCELED ? "cancelled" : "out of memory");
	atomic_store(&s->state, rc < 0 ? SCHED_FAILED : SCHED_READY);
	pthread_mutex_unlock(&s->lock);
	ring(s->wake_fd);
}

void sched_finish(struct sched *s, int rc)
{
	sched_end(s, rc >= 0 ? sched_sum_up(s) : rc);
}

static struct resched_whatif to_whatif(const struct wish *w)
{
	return (struct resched_whatif){ .policy = w->policy, .model = w->model, .nr_features = w->nr_features,
					.features = (const char *const *)w->features, .nr_settings = w->nr_settings,
					.settings = (const char *const *)w->settings, .nr_tasks = w->nr_tasks,
					.tasks = (const char *const *)w->tasks, .nr_cgroups = w->nr_cgroups,
					.cgroups = (const char *const *)w->cgroups, .topology = w->topology, .seed = w->seed,
					.placement = w->kernel_placement ? RESCHED_PLACE_KERNEL : RESCHED_PLACE_RECORDED };
}

/* Who answers about @s; @s->explain_lock is held. */
static int need_explainer(struct sched *s, struct resched_error *err)
{
	struct resched_whatif whatif = to_whatif(&s->wish);
	struct resched_explain_options opts = { .replayed = s->parent != NULL, .whatif = s->parent ? &whatif : NULL };
	int rc;

	if (s->explainer)
		return 0;
	rc = resched_trace_open(sched_recorded(s)->file, &s->explain_trace, err);
	if (rc == 0)
		rc = resched_explainer_new(s->explain_trace, &opts, &s->explainer, err);
	if (rc < 0) {
		resched_trace_free(s->explain_trace);
		s->explain_trace = NULL;
	}
	return rc;
}

/* Outliers of a recording that is not too long learn why others were preferred. Without it they have their causes. */
static void ask_why(struct sched *s)
{
	struct resched_wait_why *whys = NULL;
	struct resched_error err = { 0 };

	if (sched_unreadable(s) || atomic_load(&s->nr_events) > LAG_EVENTS || !resched_outliers_count(s->outliers))
		return;
	pthread_mutex_lock(&s->explain_lock);
	if (!atomic_load(&s->cancel) && need_explainer(s, &err) == 0)
		resched_outliers_ask(s->outliers, s->explainer, &whys, &err);
	pthread_mutex_unlock(&s->explain_lock);
	if (!whys)
		return;
	pthread_mutex_lock(&s->lock);
	resched_outliers_tell(s->outliers, whys);
	pthread_mutex_unlock(&s->lock);
	free(whys);
}

void *sched_read(void *arg)
{
	struct sched *s = arg;
	const struct resched_event *event;
	struct resched_trace *trace = NULL;
	int rc = resched_trace_open(s->file, &trace, &s->err);

	pthread_mutex_lock(&s->lock);
	s->trace = trace;
	if (rc == 0)
		rc = sched_set_up(s, resched_trace_host(trace), resched_trace_names(trace));
	if (rc == 0)
		resched_schedule_recorded(resched_trace_source(trace)->kernel, resched_trace_host(trace), &s->info);
	if (rc == 0)
		resched_trace_threads(trace, -1);
	while (rc >= 0) {
		rc = resched_trace_next(trace, &event, &s->err);
		if (rc <= 0)
			break;
		rc = sched_add_event(s, event);
	}
	atomic_store(&s->asking, rc >= 0);
	sched_finish(s, rc);
	if (rc >= 0 && atomic_load(&s->state) == SCHED_READY)
		ask_why(s);
	atomic_store(&s->asking, false);
	ring(s->wake_fd);
	return NULL;
}

static int cancel_tee(void *ctx, const struct resched_event *event)
{
	struct sched *s = ctx;

	(void)event;
	atomic_fetch_add(&s->nr_events, 1);
	return atomic_load(&s->cancel) ? -ECANCELED : 0;
}

/* The workload behind the recording @of, made once. */
static int need_workload(struct sched *s, struct sched *of)
{
	struct resched_trace *trace = NULL;
	int rc = 0;

	pthread_mutex_lock(&of->workload_lock);
	if (!of->workload && sched_unreadable(of)) {
		snprintf(s->err.text, sizeof(s->err.text), "%s", sched_unreadable(of));
		rc = -ESPIPE;
	} else if (!of->workload) {
		atomic_store(&s->phase, 1);
		rc = resched_trace_open(of->file, &trace, &s->err);
		if (rc == 0)
			rc = resched_workload_build(trace, NULL, cancel_tee, s, &of->workload, &s->err);
		resched_trace_free(trace);
	}
	pthread_mutex_unlock(&of->workload_lock);
	atomic_store(&s->nr_events, 0);
	atomic_store(&s->phase, 2);
	return rc;
}

struct replay_ctx { struct sched *s; struct sched *made; struct resched_outlier_match *match; };

static int take_replayed(void *ctx, const struct resched_event *event)
{
	struct replay_ctx *r = ctx;

	if (r->match)
		resched_outlier_match_event(r->match, event);
	atomic_fetch_add(&r->s->nr_events, 1);
	return atomic_load(&r->s->cancel) ? -ECANCELED : resched_analysis_event(r->made->analysis, event);
}

/* Into @made, which nobody else sees. */
static int run_replay(struct sched *s, struct sched *made)
{
	struct sched *of = s->parent;
	struct resched_whatif whatif = to_whatif(&s->wish);
	struct replay_ctx ctx = { .s = s, .made = made };
	int rc;

	pthread_mutex_lock(&of->lock);
	if (!s->hidden && atomic_load(&of->state) == SCHED_READY)
		resched_outlier_match_new(of->outliers, s->label, &ctx.match, &made->err);	/* there is room for a few: the others go without */
	pthread_mutex_unlock(&of->lock);
	rc = sched_set_up(made, resched_workload_host(of->workload), resched_workload_names(of->workload));
	if (rc == 0)
		rc = resched_replay_run(of->workload, &whatif, take_replayed, &ctx, made->analysis, &made->info, &made->err);
	if (rc == 0)
		rc = sched_sum_up(made);
	if (ctx.match) {
		pthread_mutex_lock(&of->lock);
		resched_outlier_match_finish(ctx.match);
		pthread_mutex_unlock(&of->lock);
	}
	return rc;
}

/*
 * The engine may work for long without an event and tells lag in between: it is no place to hold a lock that the screen waits for. So a
 * replay is seen when it is done. The outliers of the recording learn what became of them, when the recording has all of its own.
 */
static void *replay(void *arg)
{
	struct sched *s = arg, made = { 0 };
	int rc;

	if (setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + REPLAY_NICE) < 0)
		made.err.kind = 0;	/* of this thread only, and no matter */
	rc = need_workload(s, s->parent);
	if (rc == 0)
		rc = run_replay(s, &made);
	pthread_mutex_lock(&s->lock);
	s->analysis = made.analysis;
	s->outliers = made.outliers;
	s->index = made.index;
	s->report = made.report;
	s->info = made.info;
	if (*made.err.text)
		s->err = made.err;
	sched_end(s, rc);
	return NULL;
}

/* ---- the set of schedules ---- */

int data_init(struct data *d, struct resched_error *err)
{
	memset(d, 0, sizeof(*d));
	d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->wake_fd >= 0)
		return 0;
	err->kind = RESCHED_FAILED;
	snprintf(err->text, sizeof(err->text), "cannot make an eventfd: %s", strerror(errno));
	return -errno;
}

void sched_free(struct sched *s)
{
	resched_outliers_free(s->outliers);
	resched_index_free(s->index);
	resched_report_free(s->report);
	resched_analysis_free(s->analysis);
	live_release(s);
	resched_trace_free(s->trace);
	resched_workload_free(s->workload);
	resched_explainer_free(s->explainer);
	resched_trace_free(s->explain_trace);
	wish_release(&s->wish);
	pthread_mutex_destroy(&s->explain_lock);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->workload_lock);
	free(s->file);
	free(s);
}

static void look_release(struct look *l)
{
	resched_explanation_free(l->result);
	free(l->tasks);
}

void data_release(struct data *d)
{
	for (unsigned int i = 0; i < d->nr; i++)
		atomic_store(&d->scheds[i]->cancel, true);
	for (unsigned int i = 0; i < d->nr; i++) {
		if (d->scheds[i]->started)
			pthread_join(d->scheds[i]->thread, NULL);
	}
	for (unsigned int i = 0; i < LOOK_NR; i++) {
		if (d->looks[i].started)
			pthread_join(d->looks[i].thread, NULL);
		look_release(&d->looks[i]);
	}
	while (d->nr)	/* replays before what they were made from */
		sched_free(d->scheds[--d->nr]);
	if (d->wake_fd >= 0)
		close(d->wake_fd);
	d->wake_fd = -1;
}

struct sched *sched_new(struct data *d, struct resched_error *err)
{
	struct sched *s;

	if (d->nr == MAX_SCHEDS) {
		err->kind = RESCHED_FAILED;
		snprintf(err->text, sizeof(err->text), "at most %d schedules at a time; :close one", MAX_SCHEDS);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		nomem(err);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->workload_lock, NULL);
	pthread_mutex_init(&s->explain_lock, NULL);
	s->wanted = &d->wanted;
	s->wake_fd = d->wake_fd;
	return s;
}

int sched_start(struct data *d, struct sched *s, void *(*fn)(void *), struct resched_error *err)
{
	int rc;

	if (d->locked)	/* it will be unlocked with the others */
		pthread_mutex_lock(&s->lock);
	rc = quiet_thread(&s->thread, fn, s);
	if (rc) {
		if (d->locked)
			pthread_mutex_unlock(&s->lock);
		err->kind = RESCHED_FAILED;
		snprintf(err->text, sizeof(err->text), "cannot start a thread: %s", strerror(rc));
		sched_free(s);
		return -rc;
	}
	s->started = true;
	d->scheds[d->nr++] = s;
	return 0;
}

int data_open(struct data *d, const char *file, struct resched_error *err)
{
	struct sched *s = sched_new(d, err);
	const char *slash = strrchr(file, '/');

	if (!s)
		return -ENOMEM;
	s->file = strdup(file);
	if (!s->file) {
		sched_free(s);
		return nomem(err);
	}
	snprintf(s->label, sizeof(s->label), "%s", slash && slash[1] ? slash + 1 : file);
	return sched_start(d, s, sched_read, err);
}

struct sched *sched_recorded(struct sched *s)
{
	return s->parent ? s->parent : s;
}

static void label_of(const struct wish *w, char *buf, size_t size)
{
	size_t at = (size_t)snprintf(buf, size, "%s%s%s", w->policy ? w->policy : "own rules", w->model ? " " : "", w->model ? w->model : "");

	for (unsigned int i = 0; i < w->nr_features && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, " %s", w->features[i]);
	for (unsigned int i = 0; i < w->nr_settings && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, " %s", w->settings[i]);
	for (unsigned int i = 0; i < w->nr_tasks && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, " %s", w->tasks[i]);
	for (unsigned int i = 0; i < w->nr_cgroups && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, " %s", w->cgroups[i]);
	if (w->topology && at < size)
		at += (size_t)snprintf(buf + at, size - at, " on %s", w->topology);
	if (w->kernel_placement && at < size)
		snprintf(buf + at, size - at, " placed");
}

int data_replay(struct data *d, struct sched *of, struct wish *wish, bool hidden, struct resched_error *err)
{
	struct sched *s = sched_new(d, err);
	int rc;

	if (!s)
		return -ENOSPC;
	s->parent = sched_recorded(of);
	s->hidden = hidden;
	s->wish = *wish;
	memset(wish, 0, sizeof(*wish));
	label_of(&s->wish, s->label, sizeof(s->label));
	rc = sched_start(d, s, replay, err);
	return rc < 0 ? rc : (int)d->nr - 1;
}

void data_close(struct data *d, struct sched *s)
{
	unsigned int at = 0;

	while (at < d->nr && d->scheds[at] != s)
		at++;
	if (at == d->nr)
		return;
	atomic_store(&s->cancel, true);
	for (unsigned int i = 0; i < LOOK_NR; i++) {
		if (d->looks[i].sched != s)
			continue;
		if (d->looks[i].started)
			pthread_join(d->looks[i].thread, NULL);
		look_release(&d->looks[i]);
		memset(&d->looks[i], 0, sizeof(d->looks[i]));
	}
	data_unlock(d);	/* its builder may wait for any of them */
	if (s->started)
		pthread_join(s->thread, NULL);
	memmove(&d->scheds[at], &d->scheds[at + 1], (d->nr - at - 1) * sizeof(d->scheds[0]));
	d->nr--;
	sched_free(s);
	data_lock(d);
}

void data_lock(struct data *d)
{
	atomic_store(&d->wanted, true);
	for (unsigned int i = 0; i < d->nr; i++)
		pthread_mutex_lock(&d->scheds[i]->lock);
	atomic_store(&d->wanted, false);
	d->locked = true;
}

void data_unlock(struct data *d)
{
	d->locked = false;
	for (unsigned int i = d->nr; i-- > 0;)
		pthread_mutex_unlock(&d->scheds[i]->lock);
}

bool data_busy(const struct data *d)
{
	for (unsigned int i = 0; i < d->nr; i++) {
		if ((atomic_load(&d->scheds[i]->state) == SCHED_BUILDING && (!d->scheds[i]->live || !atomic_load(&d->scheds[i]->phase))) || atomic_load(&d->scheds[i]->asking))
			return true;
	}
	for (unsigned int i = 0; i < LOOK_NR; i++) {
		if (d->looks[i].started && atomic_load(&d->looks[i].state) == SCHED_BUILDING)
			return true;
	}
	return false;
}

bool data_lives(const struct data *d)
{
	for (unsigned int i = 0; i < d->nr; i++) {
		if (d->scheds[i]->live && atomic_load(&d->scheds[i]->state) == SCHED_BUILDING && !atomic_load(&d->scheds[i]->paused))
			return true;
	}
	return false;
}

const struct resched_outliers *sched_outliers(struct sched *s)
{
	if (!s->outliers || !s->index || atomic_load(&s->state) == SCHED_FAILED)
		return NULL;
	if (atomic_load(&s->state) == SCHED_BUILDING && s->sorted_at != resched_index_events(s->index)) {
		resched_outliers_sort(s->outliers);
		s->sorted_at = resched_index_events(s->index);
	}
	return s->outliers;
}

const char *sched_unreadable(struct sched *s)
{
	if (sched_recorded(s)->live)
		return "F freezes what is live into a recording, which the model can be asked about";
	return strcmp(sched_recorded(s)->file, "-") ? NULL : "a recording from standard input cannot be read again; save it to a file";
}

const struct resched_index *sched_lag(struct data *d, struct sched *s, bool asked, const char **what)
{
	struct sched *of = sched_recorded(s);
	struct resched_error err = { 0 };
	struct wish none = { 0 };
	int nr;

	if (s->parent) {
		*what = "as replayed";
		return s->index;
	}
	if (of->live) {
		*what = sched_unreadable(s);
		return NULL;
	}
	if (atomic_load(&of->state) != SCHED_READY) {
		*what = "lag comes when the recording is read";
		return NULL;
	}
	if (!of->model && !asked && resched_index_events(of->index) > LAG_EVENTS) {
		*what = "press L: this long recording will be replayed for it";
		return NULL;
	}
	if (!of->model) {
		nr = data_replay(d, of, &none, true, &err);
		if (nr >= 0)
			of->model = d->scheds[nr];
	}
	*what = !of->model || atomic_load(&of->model->state) == SCHED_FAILED ? "no lag: the recording could not be replayed" :
		atomic_load(&of->model->state) == SCHED_BUILDING ? "replaying for lag ..." : "of a replay under the kernel's own rules";
	return of->model && atomic_load(&of->model->state) == SCHED_READY ? of->model->index : NULL;
}

const struct resched_task_row *sched_row(const struct sched *s, const struct resched_index_task *task)
{
	unsigned int lo = 0, hi = s->report ? s->report->nr_tasks : 0;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;
		const struct resched_task_row *row = &s->report->tasks[mid];

		if (row->pid == task->pid && row->birth == task->birth)
			return row;
		if (row->pid < task->pid || (row->pid == task->pid && row->birth < task->birth))
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* ---- questions to the model ---- */

static int by_pid(const void *pa, const void *pb)
{
	const struct resched_queued_task *a = pa, *b = pb;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int look_at_all(struct look *l)
{
	int rc = 0;

	for (unsigned int cpu = 0; cpu < l->cpu && rc == 0 && !atomic_load(&l->sched->cancel); cpu++) {
		struct resched_explanation *x = NULL;
		struct resched_queued_task *more = NULL;

		if (resched_explainer_at(l->sched->explainer, l->at_ns, 0, cpu, &x, &l->err) < 0)
			continue;	/* a cpu that was not observed */
		if (x->nr_tasks)
			more = realloc(l->tasks, (l->nr_tasks + x->nr_tasks) * sizeof(*more));
		if (more) {
			memcpy(more + l->nr_tasks, x->tasks, x->nr_tasks * sizeof(*more));
			l->tasks = more;
			l->nr_tasks += x->nr_tasks;
		} else if (x->nr_tasks) {
			rc = nomem(&l->err);
		}
		resched_explanation_free(x);
	}
	if (l->nr_tasks)
		qsort(l->tasks, l->nr_tasks, sizeof(*l->tasks), by_pid);
	return rc;
}

static void *look_thread(void *arg)
{
	struct look *l = arg;
	int rc;

	pthread_mutex_lock(&l->sched->explain_lock);
	rc = need_explainer(l->sched, &l->err);
	if (rc == 0 && l->is_all)
		rc = look_at_all(l);
	else if (rc == 0 && l->is_wait)
		rc = resched_explainer_waits(l->sched->explainer, 1, &l->wait, &l->why, &l->err);
	else if (rc == 0)
		rc = resched_explainer_at(l->sched->explainer, l->at_ns, 0, l->cpu, &l->result, &l->err);
	pthread_mutex_unlock(&l->sched->explain_lock);
	atomic_store(&l->state, rc < 0 ? SCHED_FAILED : SCHED_READY);
	ring(l->wake_fd);
	return NULL;
}

static bool same_question(const struct look *a, const struct look *b)
{
	return a->sched == b->sched && a->is_wait == b->is_wait && a->is_all == b->is_all && a->at_ns == b->at_ns && a->cpu == b->cpu && a->wait.pid == b->wait.pid &&
	       a->wait.from_ns == b->wait.from_ns && a->wait.to_ns == b->wait.to_ns;
}

/* Return: it is answered; false: not yet, or there is no answer, *@why says. */
static bool ask(struct data *d, enum look_slot slot, const struct look *question, const char **why)
{
	struct look *l = &d->looks[slot];

	*why = "asking the model ...";
	if (l->started && atomic_load(&l->state) == SCHED_BUILDING)
		return false;
	if (same_question(l, question)) {
		*why = atomic_load(&l->state) == SCHED_FAILED ? l->err.text : "";
		return atomic_load(&l->state) == SCHED_READY;
	}
	if (sched_unreadable(question->sched)) {
		*why = sched_unreadable(question->sched);
		return false;
	}
	if (l->started)
		pthread_join(l->thread, NULL);
	look_release(l);
	*l = *question;
	l->wake_fd = d->wake_fd;
	l->started = quiet_thread(&l->thread, look_thread, l) == 0;
	if (!l->started) {
		atomic_store(&l->state, SCHED_FAILED);
		snprintf(l->err.text, sizeof(l->err.text), "cannot start a thread");
	}
	return false;
}

const struct resched_explanation *data_look(struct data *d, enum look_slot slot, struct sched *s, uint64_t at_ns, unsigned int cpu,
					    const char **why)
{
	return ask(d, slot, &(struct look){ .sched = s, .at_ns = at_ns, .cpu = cpu }, why) ? d->looks[slot].result : NULL;
}

const struct resched_queued_task *data_queued(struct data *d, struct sched *s, uint64_t at_ns, int pid)
{
	struct look question = { .sched = s, .is_all = true, .at_ns = at_ns, .cpu = resched_index_cpus(s->index) };
	const struct look *l = &d->looks[LOOK_TASKS];
	const char *why;

	if (atomic_load(&s->state) != SCHED_READY || resched_index_events(s->index) > QUEUED_MOST / (question.cpu ? question.cpu : 1) ||
	    !ask(d, LOOK_TASKS, &question, &why) || !l->nr_tasks)
		return NULL;
	return bsearch(&(struct resched_queued_task){ .pid = pid }, l->tasks, l->nr_tasks, sizeof(*l->tasks), by_pid);
}

const struct resched_wait_why *data_ask(struct data *d, struct sched *s, const struct resched_wait *wait, const char **why)
{
	return ask(d, LOOK_WAIT, &(struct look){ .sched = s, .is_wait = true, .wait = *wait }, why) ? &d->looks[LOOK_WAIT].why : NULL;
}
