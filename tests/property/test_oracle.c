// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies against independent models: EEVDF and EVDF against a slow Python reference outside this tree, found through
 * RESCHED_SHARED; CFS against cfs_model.py beside this file. Long random scenarios are played here and there, and every virtual time,
 * deadline, lag, slice and pick must be equal after every event.
 */
#include <unistd.h>

#include "property/scenario.h"

#include "policies/cfs.h"
#include "policies/eevdf_queue.h"

#define STEPS	1500

struct recorded { char *text, *want; size_t text_len, want_len; FILE *text_out, *want_out; };

static void state_line(struct scenario *s, FILE *out)
{
	struct drv *d = s->d;
	struct rs_rq_view rv;
	struct rs_entity_view v;
	struct rs_eevdf_queue *q = d->rq.priv;

	d->ops->view_rq(&d->rq, &rv);
	fprintf(out, "%s%s V=%ld", drv_name(d, d->rq.curr), d->rq.curr && rs_eevdf_protected(q, q->curr) ? " P" : "",
		(long)rv.avg_vruntime);
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned int i = 0; i < d->nr_tasks; i++) {
			struct drv_task *dt = &d->tasks[i];

			if (!dt->seen || dt->t.on_rq != !pass)
				continue;
			d->ops->view_task(&d->rq, &dt->t, &v);
			if (!pass)
				fprintf(out, " %s[v=%ld d=%ld lag=%ld%s%s]", dt->name, (long)v.vruntime, (long)v.deadline, (long)v.vlag,
					v.eligible ? " E" : " -", v.delayed ? " D" : "");
			else
				fprintf(out, " %s(vlag=%ld)", dt->name, (long)v.vlag);
		}
	}
}

static void entity_line(const struct rs_eevdf_entity *e, const char *name, FILE *out)
{
	const struct rs_eevdf_queue *q = (const struct rs_eevdf_queue *)e->h.queue;

	if (!e->on) {
		fprintf(out, " %s(vlag=%ld)", name, (long)e->vlag);
		return;
	}
	fprintf(out, " %s[v=%ld d=%ld%s%s %lu%s]", name, (long)e->vruntime, (long)e->deadline, rs_eevdf_eligible(q, e) ? " E" : " -",
		e->delayed ? " D" : "", (unsigned long)e->slice, q->curr == e ? " R" : "");
}

/* The same with groups, whose entities come first. */
static void state_line_groups(struct scenario *s, FILE *out)
{
	struct drv *d = s->d;
	const struct rs_eevdf_entity *c = d->rq.curr ? d->rq.curr->priv : NULL;
	struct rs_rq_view rv;

	d->ops->view_rq(&d->rq, &rv);
	fprintf(out, "%s%s V=%ld", drv_name(d, d->rq.curr),
		c && rs_eevdf_protected((const struct rs_eevdf_queue *)c->h.queue, c) ? " P" : "", (long)rv.avg_vruntime);
	for (unsigned int i = 0; i < d->nr_groups; i++)
		entity_line(rs_group_part(&d->groups[i].g, 0), d->groups[i].name, out);
	for (unsigned int i = 0; i < d->nr_tasks; i++) {
		if (d->tasks[i].seen)
			entity_line(d->tasks[i].t.priv, d->tasks[i].name, out);
	}
}

static const char *cfs_name(const struct drv *d, const struct rs_cfs_entity *e)
{
	if (!e)
		return "-";
	if (e->task)
		return drv_name(d, e->task);
	for (unsigned int i = 0; i < d->nr_groups; i++) {
		if (rs_group_part(&d->groups[i].g, 0) == e)
			return d->groups[i].name;
	}
	return "?";
}

static void cfs_queue_line(const struct drv *d, const struct rs_cfs_queue *q, FILE *out)
{
	fprintf(out, " {%ld %u %s/%s/%s}", (long)q->min_vruntime, q->h.h_nr, cfs_name(d, q->next), cfs_name(d, q->last), cfs_name(d, q->skip));
}

static void cfs_entity_line(const struct drv *d, const struct rs_cfs_entity *e, FILE *out)
{
	if (e->on)
		fprintf(out, " %s[v=%ld s=%lu%s]", cfs_name(d, e), (long)e->vruntime, (unsigned long)rs_cfs_slice(e),
			rs_cfs_queue_of(e)->curr == e ? " R" : "");
	else
		fprintf(out, " %s", cfs_name(d, e));
}

static void state_line_cfs(struct scenario *s, FILE *out)
{
	struct drv *d = s->d;

	fprintf(out, "%s", drv_name(d, d->rq.curr));
	cfs_queue_line(d, d->rq.priv, out);
	for (unsigned int i = 0; i < d->nr_groups; i++)
		cfs_queue_line(d, rs_cfs_own(rs_group_part(&d->groups[i].g, 0)), out);
	for (unsigned int i = 0; i < d->nr_groups; i++)
		cfs_entity_line(d, rs_group_part(&d->groups[i].g, 0), out);
	for (unsigned int i = 0; i < d->nr_tasks; i++) {
		if (d->tasks[i].seen)
			cfs_entity_line(d, d->tasks[i].t.priv, out);
	}
}

static void record(struct scenario *s, const char *text)
{
	struct recorded *r = s->ctx;

	fprintf(r->text_out, "%s\n", text);
	if (strncmp(text, "ev ", 3))
		return;
	fprintf(r->want_out, "%lu ", (unsigned long)s->now);
	fprintf(r->want_out, "%s -> ", strchr(text + 3, ' ') + 1);
	if (!strcmp(s->d->ops->name, "cfs"))
		state_line_cfs(s, r->want_out);
	else if (s->groups)
		state_line_groups(s, r->want_out);
	else
		state_line(s, r->want_out);
	fputc('\n', r->want_out);
}

/* The head of a scenario for the reference: model, tunables and features. */
static void record_head(struct recorded *r, const struct drv *d, const char *kernel)
{
	static const struct { enum rs_feature_id id; const char *name; } features[] = {
		{ RS_F_PLACE_LAG, "PLACE_LAG" }, { RS_F_PLACE_DEADLINE_INITIAL, "PLACE_DEADLINE_INITIAL" },
		{ RS_F_PLACE_REL_DEADLINE, "PLACE_REL_DEADLINE" }, { RS_F_RUN_TO_PARITY, "RUN_TO_PARITY" },
		{ RS_F_PREEMPT_SHORT, "PREEMPT_SHORT" }, { RS_F_DELAY_DEQUEUE, "DELAY_DEQUEUE" }, { RS_F_DELAY_ZERO, "DELAY_ZERO" },
		{ RS_F_WAKEUP_PREEMPTION, "WAKEUP_PREEMPTION" }, { RS_F_ENFORCE_ELIGIBILITY, "ELIG" },
	};

	fprintf(r->text_out, "ver %s\nref 0\nhz %u\nbase %lu\nnbase %lu\n", kernel, rs_model_hz(d->model),
		(unsigned long)d->model->tunable[RS_T_base_slice_ns], (unsigned long)d->model->normalized_base_ns);
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		fprintf(r->text_out, "feat %s %d\n", features[i].name, rs_feat(d->model, features[i].id));
}

static void record_cfs_head(struct recorded *r, const struct drv *d)
{
	static const struct { enum rs_feature_id id; const char *name; } features[] = {
		{ RS_F_ALT_PERIOD, "ALT_PERIOD" }, { RS_F_BASE_SLICE, "BASE_SLICE" }, { RS_F_START_DEBIT, "START_DEBIT" },
		{ RS_F_GENTLE_FAIR_SLEEPERS, "GENTLE_FAIR_SLEEPERS" }, { RS_F_NEXT_BUDDY, "NEXT_BUDDY" },
		{ RS_F_LAST_BUDDY, "LAST_BUDDY" }, { RS_F_WAKEUP_PREEMPTION, "WAKEUP_PREEMPTION" },
	};
	static const struct { enum rs_tunable_id id; const char *name; } knobs[] = {
		{ RS_T_latency_ns, "latency" }, { RS_T_min_granularity_ns, "min" }, { RS_T_idle_min_granularity_ns, "idle" },
		{ RS_T_wakeup_granularity_ns, "wakeup" }, { RS_T_sched_child_runs_first, "child_first" },
	};

	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		fprintf(r->text_out, "feat %s %d\n", features[i].name, rs_feat(d->model, features[i].id));
	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++)
		fprintf(r->text_out, "knob %s %lu\n", knobs[i].name, (unsigned long)d->model->tunable[knobs[i].id]);
}

static const char *reference_folder(char *buf, size_t size)
{
	const char *shared = getenv("RESCHED_SHARED");
	char file[512];

	snprintf(buf, size, "%s/tools/shadow-probe", shared ? shared : "../shared");
	snprintf(file, sizeof(file), "%s/eevdf_model.py", buf);
	return access(file, R_OK) == 0 ? buf : NULL;
}

/* The text of the picked task's state in a line "TIME OP ... -> NAME ... NAME[v=... d=...", without its name; NULL when idle. */
static const char *picked_state(const char *line, size_t *ret_len)
{
	const char *name = strstr(line, "-> "), *at;
	char key[16];

	if (!name || sscanf(name, "-> %12s", key) != 1)
		return NULL;
	strcat(key, "[v");
	at = strstr(line, key);
	if (!at || !strchr(at, ']'))
		return NULL;
	*ret_len = strcspn(at, "]") - strlen(key);
	return at + strlen(key);
}

/*
 * Two tasks with equal v, d and lag: 6.6 decides by the shape of its red-black tree, which is kept here and not by the reference.
 */
static bool is_tie(const char *a, const char *b)
{
	size_t a_len, b_len;
	const char *a_state = picked_state(a, &a_len), *b_state = picked_state(b, &b_len);

	return a_state && b_state && a_len == b_len && !strncmp(a_state, b_state, a_len);
}

/* Run the reference on @r->text; compares line by line. @ties: stop at a tie the reference decides otherwise. */
static void compare(const struct recorded *r, const char *script, const char *folder, bool ties, const char *what)
{
	char path[512], command[2048], line[8192];
	const char *top = getenv("RESCHED_TOP"), *tmp = getenv("TMPDIR");
	const char *want = r->want;
	FILE *out, *in;
	unsigned long nr = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/resched-oracle-XXXXXX", tmp ? tmp : P_tmpdir);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(r->text, 1, r->text_len, out), r->text_len);
	assert_int_equal(fclose(out), 0);
	snprintf(command, sizeof(command), "python3 '%s/tests/property/%s' '%s' < '%s'", top ? top : ".", script, folder, path);
	in = popen(command, "r");
	assert_non_null(in);
	for (; fgets(line, sizeof(line), in); nr++) {
		size_t len = strcspn(want, "\n"), got = strcspn(line, "\n");

		while (got && line[got - 1] == ' ')
			got--;
		if (got != len || strncmp(want, line, len)) {
			bool tie = ties && is_tie(want, line);

			while (tie && fgets(line, sizeof(line), in))
				;	/* let it end in peace */
			pclose(in);
			if (tie) {
				unlink(path);
				return;
			}
			fail_msg("%s, event %lu (scenario kept in %s)\n  here      %.*s\n  reference %.*s", what, nr, path, (int)len, want,
				 (int)got, line);
		}
		want += len + 1;
	}
	assert_int_equal(pclose(in), 0);
	assert_int_equal(*want, '\0');
	unlink(path);
}

static void one(const char *policy, const char *kernel, const char *knobs, unsigned int groups, uint64_t seed, const char *folder)
{
	struct recorded r = { 0 };
	struct scenario s = { .rng = { seed }, .step = record, .ctx = &r, .nices = true };
	char what[160];

	snprintf(what, sizeof(what), "%s %s %s seed %lu", policy, kernel, knobs, (unsigned long)seed);
	r.text_out = open_memstream(&r.text, &r.text_len);
	r.want_out = open_memstream(&r.want, &r.want_len);
	s.d = drv_new(policy, kernel, knobs);
	((struct rs_eevdf_queue *)s.d->rq.priv)->zero = 0;
	s.slices = s.d->model->rules->custom_slices && seed % 2;
	s.next_tick = s.d->model->tick_ns;
	record_head(&r, s.d, kernel);
	if (groups) {
		s.stops = true;
		scenario_groups(&s, groups);
	}
	scenario_tasks(&s, 2 + (unsigned int)(seed % 7));
	for (int i = 0; i < STEPS; i++)
		scenario_step(&s);
	fclose(r.text_out);
	fclose(r.want_out);
	compare(&r, groups ? "oracle_groups.py" : "oracle_eevdf.py", folder, s.d->model->rules->tree_by_vruntime, what);
	drv_free(s.d);
	free(r.text);
	free(r.want);
}

static void one_cfs(const char *knobs, unsigned int groups, uint64_t seed)
{
	struct recorded r = { 0 };
	struct scenario s = { .rng = { seed }, .step = record, .ctx = &r, .nices = true };
	char what[160];

	snprintf(what, sizeof(what), "cfs %s seed %lu", knobs, (unsigned long)seed);
	r.text_out = open_memstream(&r.text, &r.text_len);
	r.want_out = open_memstream(&r.want, &r.want_len);
	s.d = drv_new("cfs", "6.1", knobs);
	s.next_tick = s.d->model->tick_ns;
	record_cfs_head(&r, s.d);
	if (groups)
		scenario_groups(&s, groups);
	scenario_tasks(&s, 2 + (unsigned int)(seed % 14));
	for (int i = 0; i < STEPS; i++)
		scenario_step(&s);
	fclose(r.text_out);
	fclose(r.want_out);
	compare(&r, "cfs_model.py", "", false, what);
	drv_free(s.d);
	free(r.text);
	free(r.want);
}

static void cfs_equals_second_model(void **state)
{
	static const struct { const char *knobs; unsigned int groups; } runs[] = {
		{ "hz=1000", 0 }, { "hz=250", 0 }, { "hz=1000 NO_GENTLE_FAIR_SLEEPERS NEXT_BUDDY", 0 }, { "hz=1000 NO_START_DEBIT", 0 },
		{ "hz=250 NO_ALT_PERIOD NO_BASE_SLICE", 0 }, { "hz=1000 latency_ns=24ms min_granularity_ns=3ms", 0 },
		{ "hz=1000 wakeup_granularity_ns=0 NO_LAST_BUDDY", 0 }, { "hz=100 sched_child_runs_first=1 NO_WAKEUP_PREEMPTION", 0 },
		{ "hz=1000", 2 }, { "hz=1000", 3 }, { "hz=250 NEXT_BUDDY", 5 }, { "hz=1000 NO_ALT_PERIOD NO_BASE_SLICE", 3 },
	};
	const char *repeats = getenv("RESCHED_ORACLE_REPEATS");
	uint64_t nr = repeats ? strtoull(repeats, NULL, 10) : 2;

	(void)state;
	for (uint64_t seed = 1; seed <= nr; seed++) {
		for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
			one_cfs(runs[i].knobs, runs[i].groups, seed * 1000 + 7 * i);
	}
	print_message("%lu scenarios of %d steps were equal\n", (unsigned long)(nr * (sizeof(runs) / sizeof(runs[0]))), STEPS);
}

static void equals_reference(void **state)
{
	static const struct { const char *policy, *kernel, *knobs; } runs[] = {
		{ "eevdf", "6.12", "hz=1000" }, { "eevdf", "6.12", "hz=250 base_slice_ns=2800000" },
		{ "eevdf", "6.12", "hz=1000 NO_RUN_TO_PARITY" }, { "eevdf", "6.12", "hz=1000 NO_DELAY_DEQUEUE" },
		{ "eevdf", "6.12", "hz=1000 NO_DELAY_ZERO" }, { "eevdf", "6.12", "hz=1000 NO_PLACE_LAG" },
		{ "eevdf", "6.12", "hz=1000 NO_PLACE_REL_DEADLINE NO_PREEMPT_SHORT" },
		{ "eevdf", "6.12", "hz=100 NO_PLACE_DEADLINE_INITIAL NO_WAKEUP_PREEMPTION" },
		{ "evdf", "6.12", "hz=1000" }, { "evdf", "6.12", "hz=250 base_slice_ns=3ms" }, { "evdf", "6.18", "hz=1000" },
		{ "eevdf", "6.6", "hz=1000" }, { "eevdf", "6.6", "hz=250 base_slice_ns=3ms NO_RUN_TO_PARITY" },
		{ "eevdf", "6.8", "hz=1000" }, { "eevdf", "6.8", "hz=250 base_slice_ns=3ms NO_PLACE_LAG" },
		{ "eevdf", "6.18", "hz=1000" }, { "eevdf", "6.18", "hz=250 base_slice_ns=2800000 NO_RUN_TO_PARITY" },
		{ "eevdf", "6.18", "hz=1000 NO_PREEMPT_SHORT NO_DELAY_ZERO" },
	};
	const char *repeats = getenv("RESCHED_ORACLE_REPEATS");
	uint64_t nr = repeats ? strtoull(repeats, NULL, 10) : 2;
	char buf[400];
	const char *folder = reference_folder(buf, sizeof(buf));

	(void)state;
	if (!folder) {
		print_message("skipped: the reference model is not in %s\n", buf);
		skip();
	}
	for (uint64_t seed = 1; seed <= nr; seed++) {
		for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
			one(runs[i].policy, runs[i].kernel, runs[i].knobs, 0, seed * 1000 + i, folder);
	}
	print_message("%lu scenarios of %d steps were equal\n", (unsigned long)(nr * (sizeof(runs) / sizeof(runs[0]))), STEPS);
}

/* Groups, nested ones too, on the one kernel the reference knows them for. */
static void groups_equal_reference(void **state)
{
	static const struct { const char *policy, *knobs; unsigned int groups; } runs[] = {
		{ "eevdf", "hz=1000", 2 }, { "eevdf", "hz=250 base_slice_ns=2800000", 3 }, { "eevdf", "hz=1000 base_slice_ns=3ms", 4 },
		{ "eevdf", "hz=1000 NO_DELAY_DEQUEUE", 3 }, { "eevdf", "hz=1000 NO_RUN_TO_PARITY NO_DELAY_ZERO", 3 },
		{ "eevdf", "hz=250 NO_PREEMPT_SHORT NO_PLACE_REL_DEADLINE", 5 }, { "evdf", "hz=1000", 3 }, { "eevdf", "hz=1000", 7 },
	};
	const char *repeats = getenv("RESCHED_ORACLE_REPEATS");
	uint64_t nr = repeats ? strtoull(repeats, NULL, 10) : 2;
	char buf[400];
	const char *folder = reference_folder(buf, sizeof(buf));

	(void)state;
	if (!folder) {
		print_message("skipped: the reference model is not in %s\n", buf);
		skip();
	}
	for (uint64_t seed = 1; seed <= nr; seed++) {
		for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
			one(runs[i].policy, "6.12", runs[i].knobs, runs[i].groups, seed * 1000 + i, folder);
	}
	print_message("%lu scenarios with groups of %d steps were equal\n", (unsigned long)(nr * (sizeof(runs) / sizeof(runs[0]))), STEPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(equals_reference), cmocka_unit_test(groups_equal_reference),
					    cmocka_unit_test(cfs_equals_second_model) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
