// SPDX-License-Identifier: GPL-2.0-only
/* resched/validate/1, and the same for people. */
#include <resched/validate.h>

#include <stdlib.h>

#include "report/internal.h"
#include "report/json.h"
#include "report/text.h"

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 1;
}

static const char *mode_letter(enum resched_shadow_mode mode)
{
	return mode == RESCHED_SHADOW_ACCOUNTING ? "b" : mode == RESCHED_SHADOW_RUNTIMES ? "c" : "a";
}

static void put_who(struct rs_json *doc, struct json_object *parent, const char *key, int pid,
		    const char *comm)
{
	struct json_object *o = rs_json_object(doc, parent, key);

	rs_json_i64(doc, o, "pid", pid);
	rs_json_text(doc, o, "comm", comm);
}

static void put_disagreements(struct rs_json *doc, struct json_object *o,
			      const struct resched_shadow *s)
{
	struct json_object *list = rs_json_array(doc, o, "disagreements");

	for (unsigned int i = 0; i < s->nr_disagreements; i++) {
		const struct resched_disagreement *d = &s->disagreements[i];
		struct json_object *row = rs_json_object(doc, list, NULL);

		rs_json_u64(doc, row, "ts_ns", d->ts_ns);
		rs_json_u64(doc, row, "cpu", d->cpu);
		rs_json_text(doc, row, "kind", d->kind);
		put_who(doc, row, "model", d->model_pid, d->model_comm);
		put_who(doc, row, "kernel", d->kernel_pid, d->kernel_comm);
		rs_json_text(doc, row, "why", d->why);
	}
}

static void put_state(struct rs_json *doc, struct json_object *parent,
		      const struct resched_state_errors *state)
{
	struct json_object *o;

	if (!state->samples) {
		rs_json_null(doc, parent, "state");
		return;
	}
	o = rs_json_object(doc, parent, "state");
	rs_json_u64(doc, o, "samples", state->samples);
	rs_json_u64(doc, o, "exact", state->exact);
	rs_json_dist(doc, o, "lag_error_ns", &state->lag_error_ns);
	rs_json_dist(doc, o, "deadline_error_ns", &state->deadline_error_ns);
	rs_json_real(doc, o, "eligible_agreement",
		     share(state->eligible_agree, state->eligible_samples));
}

static void put_shadow(struct rs_json *doc, const struct resched_shadow *s)
{
	struct json_object *o = rs_json_object(doc, doc->root, "shadow"), *list;

	rs_json_text(doc, o, "policy", s->policy);
	rs_json_text(doc, o, "model", s->model);
	rs_json_text(doc, o, "mode", mode_letter(s->mode));
	rs_json_u64(doc, o, "contested", s->contested);
	rs_json_u64(doc, o, "pick_agree", s->pick_agree);
	rs_json_real(doc, o, "pick_agreement", share(s->pick_agree, s->contested));
	rs_json_u64(doc, o, "preempt_decisions", s->preempt_decisions);
	rs_json_real(doc, o, "preempt_agreement", share(s->preempt_agree, s->preempt_decisions));
	rs_json_u64(doc, o, "tick_decisions", s->tick_decisions);
	rs_json_real(doc, o, "tick_agreement", share(s->tick_agree, s->tick_decisions));
	put_state(doc, o, &s->state);
	rs_json_u64(doc, o, "unknown", s->unknown);
	rs_json_u64(doc, o, "resynced", s->resynced);
	if (s->mode != RESCHED_SHADOW_ACCOUNTING) {
		rs_json_u64(doc, o, "clock_offset_ns", s->clock_offset_ns);
		rs_json_u64(doc, o, "tick_lead_ns", s->tick_lead_ns);
	}
	put_disagreements(doc, o, s);
	list = rs_json_array(doc, o, "warnings");
	for (unsigned int i = 0; i < s->nr_warnings; i++)
		rs_json_text(doc, list, NULL, s->warnings[i]);
}

static void put_self(struct rs_json *doc, const struct resched_validation *v)
{
	struct json_object *o, *list;

	if (!v->has_self) {
		rs_json_null(doc, doc->root, "self_replay");
		return;
	}
	o = rs_json_object(doc, doc->root, "self_replay");
	list = rs_json_array(doc, o, "groups");
	for (unsigned int i = 0; i < v->self.nr_comms; i++) {
		const struct resched_self_comm *c = &v->self.comms[i];
		struct json_object *row = rs_json_object(doc, list, NULL);

		rs_json_text(doc, row, "comm", c->comm);
		rs_json_u64(doc, row, "wakeups", c->wakeups);
		rs_json_real(doc, row, "latency_p50_error", c->latency_p50_error);
		rs_json_real(doc, row, "latency_p99_error", c->latency_p99_error);
		rs_json_real(doc, row, "latency_mean_error", c->latency_mean_error);
		if (v->self.has_distance)
			rs_json_real(doc, row, "latency_distance", c->latency_distance);
		rs_json_real(doc, row, "involuntary_error", c->involuntary_error);
		rs_json_real(doc, row, "migrations_error", c->migrations_error);
		rs_json_real(doc, row, "runtime_error", c->runtime_error);
		rs_json_text(doc, row, "trust", resched_trust_text(c->trust));
		rs_json_text(doc, row, "why", c->why);
	}
	rs_json_real(doc, o, "latency_p50_error_median", v->self.latency_p50_error_median);
	rs_json_real(doc, o, "latency_p99_error_median", v->self.latency_p99_error_median);
	rs_json_real(doc, o, "involuntary_error_total", v->self.involuntary_error_total);
	rs_json_real(doc, o, "migrations_error_total", v->self.migrations_error_total);
	rs_json_real(doc, o, "runtime_error_total", v->self.runtime_error_total);
	if (v->self.has_distance)
		rs_json_real(doc, o, "latency_distance", v->self.latency_distance);
	else
		rs_json_null(doc, o, "latency_distance");
}

static void put_placement(struct rs_json *doc, const struct resched_placement_agreement *p)
{
	struct json_object *o;

	if (!p->wakeups) {
		rs_json_null(doc, doc->root, "placement_agreement");
		rs_json_null(doc, doc->root, "placement");
		return;
	}
	rs_json_real(doc, doc->root, "placement_agreement", share(p->agree, p->wakeups));
	o = rs_json_object(doc, doc->root, "placement");
	rs_json_u64(doc, o, "wakeups", p->wakeups);
	rs_json_u64(doc, o, "agree", p->agree);
	rs_json_u64(doc, o, "same_core", p->same_core);
	rs_json_u64(doc, o, "same_llc", p->same_llc);
	rs_json_u64(doc, o, "same_node", p->same_node);
	rs_json_u64(doc, o, "other_node", p->other_node);
	rs_json_u64(doc, o, "uncertain", p->uncertain);
}

static int print_json(FILE *out, const struct resched_source *source,
		      const struct resched_validation *v, struct resched_error *err)
{
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/validate/1");
	if (source)
		rs_json_source(&doc, rs_json_object(&doc, doc.root, "source"), source);
	put_shadow(&doc, &v->shadow);
	put_placement(&doc, &v->placement);
	put_self(&doc, v);
	rs_json_text(&doc, doc.root, "trust", resched_trust_text(v->trust));
	rs_json_text(&doc, doc.root, "verdict", v->verdict);
	rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

static void measure_row(struct rs_table *t, const char *what, uint64_t nr, uint64_t agree,
			const char *meaning)
{
	double part = share(agree, nr);

	rs_table_cell(t, RS_STYLE_NONE, what);
	rs_table_count(t, nr);
	rs_table_count(t, nr - agree);
	if (nr)
		rs_table_cellf(t,
			       part >= 0.98 ? RS_STYLE_GOOD
			       : part < 0.9 ? RS_STYLE_BAD
					    : RS_STYLE_NONE,
			       "%.2f %%", 100 * part);
	else
		rs_table_cell(t, RS_STYLE_DIM, "-");
	rs_table_cell(t, RS_STYLE_DIM, meaning);
}

static int print_measures(FILE *out, const struct resched_validation *v, bool color,
			  struct resched_error *err)
{
	const struct resched_shadow *s = &v->shadow;
	static const char *const heads[] = { "question", "asked", "missed", "agreement", "" };
	struct rs_table t;
	int rc;

	rs_table_init(&t, 5, "lrrrl");
	for (unsigned int i = 0; i < 5; i++)
		rs_table_cell(&t, RS_STYLE_BOLD, heads[i]);
	measure_row(&t, "pick", s->contested, s->pick_agree, "who runs next, where there was a choice");
	measure_row(&t, "preempt", s->preempt_decisions, s->preempt_agree,
		    "does a wakeup replace the running task");
	measure_row(&t, "tick", s->tick_decisions, s->tick_agree, "when does a slice end");
	if (v->placement.wakeups)
		measure_row(&t, "placement", v->placement.wakeups, v->placement.agree,
			    "which cpu a waking or new task gets");
	rc = rs_table_print(&t, out, 2, color, err);
	rs_table_release(&t);
	return rc;
}

static void print_mode(FILE *out, const struct resched_shadow *s)
{
	fprintf(out, "Shadow: %s, rules of %s, ", s->policy, s->model);
	if (s->mode == RESCHED_SHADOW_ACCOUNTING)
		fputs("clocks from accounting events (b)\n", out);
	else
		fprintf(out,
			"clocks from stamps%s; offset %.1f us and tick lead %.1f us found from the "
			"recording\n",
			s->mode == RESCHED_SHADOW_RUNTIMES ? " and run times (c)" : " (a)",
			(double)s->clock_offset_ns / 1e3, (double)s->tick_lead_ns / 1e3);
}

static void print_disagreements(FILE *out, const struct resched_shadow *s, unsigned int max)
{
	unsigned int nr = max && max < s->nr_disagreements ? max : s->nr_disagreements;

	if (nr)
		fprintf(out, "\nThe first %u disagreement%s:\n", nr, nr == 1 ? "" : "s");
	for (unsigned int i = 0; i < nr; i++) {
		const struct resched_disagreement *d = &s->disagreements[i];
		char *why = rs_text_clean(d->why, 0);

		fprintf(out, "  %llu.%09llu cpu %u %s: %s\n",
			(unsigned long long)(d->ts_ns / 1000000000),
			(unsigned long long)(d->ts_ns % 1000000000), d->cpu, d->kind, why ? why : "?");
		free(why);
	}
}

static void trust_cell(struct rs_table *t, const struct resched_self_comm *c)
{
	static const enum rs_style styles[] = { [RESCHED_TRUST] = RS_STYLE_GOOD, [RESCHED_TRUST_WITH_CARE] = RS_STYLE_NONE, [RESCHED_DO_NOT_TRUST] = RS_STYLE_BAD };

	rs_table_cellf(t, styles[c->trust], *c->why ? "%s: %s" : "%s", resched_trust_text(c->trust), c->why);
}

static int print_self(FILE *out, const struct resched_validation *v, bool color,
		      struct resched_error *err)
{
	struct rs_table t;
	int rc;

	if (!v->has_self)
		return 0;
	fputs("\nSelf-replay: errors of a free run under the recorded rules, by comm with 50 wakeups "
	      "or more\n",
	      out);
	rs_table_init(&t, 7, "lrrrrrl");
	for (unsigned int i = 0; i < 7; i++) {
		static const char *const heads[] = { "comm", "wakeups",     "p50",
						     "p99", "involuntary", "runtime", "verdict" };

		rs_table_cell(&t, RS_STYLE_BOLD, heads[i]);
	}
	for (unsigned int i = 0; i < v->self.nr_comms; i++) {
		const struct resched_self_comm *c = &v->self.comms[i];

		rs_table_cell(&t, RS_STYLE_NONE, c->comm);
		rs_table_count(&t, c->wakeups);
		rs_table_cellf(&t, RS_STYLE_NONE, "%.1f %%", 100 * c->latency_p50_error);
		rs_table_cellf(&t, RS_STYLE_NONE, "%.1f %%", 100 * c->latency_p99_error);
		rs_table_cellf(&t, RS_STYLE_NONE, "%.1f %%", 100 * c->involuntary_error);
		rs_table_cellf(&t, RS_STYLE_NONE, "%.1f %%", 100 * c->runtime_error);
		trust_cell(&t, c);
	}
	rc = rs_table_print(&t, out, 2, color, err);
	rs_table_release(&t);
	return rc;
}

int resched_print_validation(FILE *out, const struct resched_source *source,
			     const struct resched_validation *v,
			     const struct resched_print_options *opts, struct resched_error *err)
{
	int rc;

	if (opts->format == RESCHED_JSON)
		return print_json(out, source, v, err);
	rs_head_source(out, source, opts->color);
	print_mode(out, &v->shadow);
	for (unsigned int i = 0; i < v->shadow.nr_warnings; i++)
		fprintf(out, "  note: %s\n", v->shadow.warnings[i]);
	rc = print_measures(out, v, opts->color, err);
	if (rc < 0)
		return rc;
	if (v->shadow.state.samples)
		fprintf(out,
			"Against the kernel's own state, %llu samples: lag off by %.3f us at the 99th "
			"percentile, deadline by %.3f us; %llu exact\n",
			(unsigned long long)v->shadow.state.samples,
			(double)v->shadow.state.lag_error_ns.p99 / 1e3,
			(double)v->shadow.state.deadline_error_ns.p99 / 1e3,
			(unsigned long long)v->shadow.state.exact);
	print_disagreements(out, &v->shadow, opts->max_rows);
	rc = print_self(out, v, opts->color, err);
	if (rc < 0)
		return rc;
	fprintf(out, "\n%s\n", v->verdict);
	return rs_out_check(out, err);
}
