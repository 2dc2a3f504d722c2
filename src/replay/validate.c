// SPDX-License-Identifier: GPL-2.0-only
#include "replay/agree.h"
#include "replay/self_replay.h"
#include "replay/shadow_input.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PICKS_GOOD 0.98 /* shares of contested switches */
#define PICKS_FAIR 0.9
#define MAX_NAMED 6u /* comms of one kind named in the verdict */

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 1;
}

static const char *trust(double agreement)
{
	return agreement >= 0.995  ? "as the kernel did"
	       : agreement >= 0.98 ? "nearly always as the kernel did"
	       : agreement >= 0.9  ? "mostly as the kernel did"
				   : "often not as the kernel did";
}

const char *resched_trust_text(enum resched_trust t)
{
	return t == RESCHED_TRUST ? "trust" : t == RESCHED_TRUST_WITH_CARE ? "trust with care"
									   : "do not trust";
}

/* Appends to the verdict; what has no room is left out. */
__attribute__((format(printf, 2, 3))) static void say(struct resched_validation *v, const char *format, ...)
{
	size_t len = strlen(v->verdict);
	va_list args;

	va_start(args, format);
	vsnprintf(v->verdict + len, sizeof(v->verdict) - len, format, args);
	va_end(args);
}

/* The comms of one kind by name, the first few with what is wrong. */
static void say_comms(struct resched_validation *v, enum resched_trust t, const char *intro)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < v->self.nr_comms; i++) {
		const struct resched_self_comm *c = &v->self.comms[i];

		if (c->trust != t)
			continue;
		if (nr < MAX_NAMED)
			say(v, *c->why ? "%s%s (%s)" : "%s%s", nr ? ", " : intro, c->comm, c->why);
		nr++;
	}
	if (nr > MAX_NAMED)
		say(v, " and %u more", nr - MAX_NAMED);
	if (nr)
		say(v, ".");
}

static enum resched_trust worse(enum resched_trust a, enum resched_trust b)
{
	return a > b ? a : b;
}

static void make_verdict(struct resched_validation *v)
{
	const struct resched_shadow *s = &v->shadow;
	double agreement = share(s->pick_agree, s->contested);

	if (s->contested)
		v->trust = agreement >= PICKS_GOOD ? RESCHED_TRUST : agreement >= PICKS_FAIR ? RESCHED_TRUST_WITH_CARE
											     : RESCHED_DO_NOT_TRUST;
	if (v->has_self && v->self.nr_comms)
		v->trust = worse(v->trust, worse(rs_trust_error(v->self.latency_p50_error_median),
						 rs_trust_error(v->self.latency_p99_error_median)));
	if (!s->contested && !(v->has_self && v->self.nr_comms)) {
		say(v, "No switch had a choice between fair tasks, so this recording neither supports nor refutes the model.");
		return;
	}
	say(v, "%c%s.", resched_trust_text(v->trust)[0] - 'a' + 'A', resched_trust_text(v->trust) + 1);
	if (s->contested)
		say(v, " On %llu contested switches %s (%s) picks %s: %.2f %%.", (unsigned long long)s->contested, s->policy, s->model,
		    trust(agreement), 100 * agreement);
	if (!v->has_self || !v->self.nr_comms)
		return;
	say(v, " A free replay is off by a median of %.0f %% in the median and %.0f %% in the 99th percentile of wakeup latency.",
	    100 * v->self.latency_p50_error_median, 100 * v->self.latency_p99_error_median);
	say_comms(v, RESCHED_TRUST, " Trust predictions for ");
	say_comms(v, RESCHED_TRUST_WITH_CARE, " With care for ");
	say_comms(v, RESCHED_DO_NOT_TRUST, " Do not trust them for ");
}

static int shadow_half(const struct rs_shadow_input *in, const struct resched_validate_options *opts,
		       struct resched_validation *v, struct resched_error *err)
{
	struct resched_shadow *ret = &v->shadow;
	struct rs_shadow_options shadow;
	int rc = rs_shadow_input_options(in, opts->mode, !opts->no_resync, &shadow, err);

	if (rc == 0 && in->log.nr_cpus > 1 &&
	    rs_agree_new(in->workload, in->plan.model, in->log.nr_cpus, &v->placement, &shadow.agree) < 0)
		rc = rs_error_nomem(err);
	if (rc == 0) {
		rc = rs_shadow_run(&in->log, &shadow, ret) < 0 ? rs_error_nomem(err) : 0;
		rs_agree_free(shadow.agree);
	}
	if (rc < 0)
		return rc;
	rs_shadow_input_describe(in, &shadow, ret);
	return 0;
}

int resched_validate(struct resched_trace *trace, const struct resched_validate_options *opts,
		     struct resched_validation **ret, struct resched_error *err)
{
	static const struct resched_validate_options defaults;
	struct resched_validation *v = calloc(1, sizeof(*v));
	struct rs_shadow_input in;
	int rc;

	if (!v)
		return rs_error_nomem(err);
	if (!opts)
		opts = &defaults;
	rc = rs_shadow_input_read(trace, opts->host, opts->whatif, &in, err);
	if (rc == 0)
		rc = shadow_half(&in, opts, v, err);
	if (rc == 0 && opts->self_replay) {
		rc = rs_self_replay(&in, opts->whatif, &v->self, err);
		v->has_self = rc == 0;
	}
	if (rc == 0) {
		make_verdict(v);
		*ret = v;
		v = NULL;
	}
	rs_shadow_input_release(&in);
	resched_validation_free(v);
	return rc;
}

void resched_validation_free(struct resched_validation *v)
{
	if (!v)
		return;
	free(v->self.comms);
	free(v);
}
