// SPDX-License-Identifier: GPL-2.0-only
/* Parameters of made-up workloads, and the bricks they are made of. */
#include "replay/synth.h"

#include <resched/synth.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "replay/workload_file.h"

#define FIRST_PID 1000
#define DEFAULT_KERNEL "6.12"
#define DEFAULT_HZ 250u
#define IDLE_EXIT_NS 3000u	/* of a machine that does not sleep deeply; edit the line `timing` of a saved workload for others */
#define PREEMPT_DELAY_NS 1500u
#define TICK_DELAY_NS 1500u

static const struct rs_synth_maker *const makers[] = {
	&rs_synth_hackbench, &rs_synth_schbench, &rs_synth_schbench_old, &rs_synth_cyclictest, &rs_synth_tbench,
	&rs_synth_periodic, &rs_synth_poisson, &rs_synth_hogs,
};
#define NR_MAKERS (sizeof(makers) / sizeof(makers[0]))

/* ---- chance ---- */

uint64_t rs_rng_next(struct rs_rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t rs_rng_below(struct rs_rng *rng, uint64_t limit)
{
	return (uint64_t)(((unsigned __int128)rs_rng_next(rng) * limit) >> 64);
}

/* log2(x) in 1/2^24, x from 1 to 2^32: the mantissa is squared bit by bit. */
static uint64_t log2_q24(uint64_t x)
{
	unsigned int whole = 63 - (unsigned int)__builtin_clzll(x);
	uint64_t m = x << 31 >> whole, result = (uint64_t)whole << 24;	/* m: from 1 to 2 in 1/2^31 */

	for (unsigned int bit = 24; bit-- > 0;) {
		m = m * m >> 31;
		if (m >> 32) {
			m >>= 1;
			result |= UINT64_C(1) << bit;
		}
	}
	return result;
}

uint64_t rs_rng_exponential(struct rs_rng *rng, uint64_t mean)
{
	const uint64_t ln2_q32 = 2977044472u;
	uint64_t u = (rs_rng_next(rng) >> 32) + 1;
	uint64_t minus_log2 = (UINT64_C(32) << 24) - log2_q24(u);	/* of u / 2^32 */

	return (uint64_t)(((unsigned __int128)mean * minus_log2 * ln2_q32) >> 56);
}

uint64_t rs_synth_about(struct rs_synth *s, uint64_t ns, unsigned int percent)
{
	uint64_t width = ns / 50 * percent;

	return ns - width / 2 + rs_rng_below(&s->rng, width + 1);
}

/* ---- bricks ---- */

uint32_t rs_synth_task(struct rs_synth *s, const char *comm, int nice)
{
	struct resched_workload *workload = s->workload;
	int64_t idx, name;

	if (s->failed)
		return 0;
	if (workload->nr_tasks >= RS_SYNTH_MAX_TASKS) {
		s->failed = -E2BIG;
		return 0;
	}
	name = resched_names_intern(workload->names, comm, strlen(comm));
	idx = name < 0 ? name : rs_workload_add(workload, FIRST_PID + (int32_t)workload->nr_tasks);
	if (idx < 0) {
		s->failed = -ENOMEM;
		return 0;
	}
	workload->tasks[idx].comm = (uint32_t)name;
	workload->tasks[idx].prio = 120 + nice;
	workload->tasks[idx].birth = RS_BORN_QUEUED;
	workload->tasks[idx].loop_to = UINT32_MAX;
	workload->tasks[idx].cpu = (uint16_t)s->cpus[(uint32_t)idx % s->nr_cpus];
	return (uint32_t)idx;
}

struct rs_op *rs_synth_op(struct rs_synth *s, uint32_t task, uint64_t run_ns, enum rs_op_kind kind)
{
	struct rs_op *op = NULL;

	if (!s->failed) {
		s->failed = ++s->nr_ops > RS_SYNTH_MAX_OPS ? -E2BIG : 0;
		op = s->failed ? NULL : rs_program_append(rs_synth_program(s, task));
		if (!op && !s->failed)
			s->failed = -ENOMEM;
	}
	if (!op)
		op = &s->nowhere;
	op->run_ns = run_ns;
	op->kind = (uint8_t)kind;
	op->cpu = s->failed ? 0 : rs_synth_program(s, task)->cpu;
	return op;
}

void rs_synth_wake(struct rs_synth *s, uint32_t task, uint64_t run_ns, uint32_t target, enum rs_wake_kept kept)
{
	struct rs_op *op = rs_synth_op(s, task, run_ns, RS_OP_WAKE);

	op->arg = target;
	op->rule = (uint8_t)kept & 15;
}

void rs_synth_wait(struct rs_synth *s, uint32_t task, uint64_t run_ns, uint32_t by, uint64_t usual_ns)
{
	struct rs_op *op = rs_synth_op(s, task, run_ns, RS_OP_BLOCK);

	op->rule = RS_RULE_CAUSAL;
	op->arg = by;
	op->len_ns = usual_ns;
	op->when_ns = RS_SYNTH_FIRST_NS + usual_ns;
}

void rs_synth_sleep(struct rs_synth *s, uint32_t task, uint64_t run_ns, uint64_t len_ns)
{
	struct rs_op *op = rs_synth_op(s, task, run_ns, RS_OP_BLOCK);

	op->rule = RS_RULE_RELATIVE;
	op->arg = RS_NO_TASK;
	op->len_ns = len_ns;
	op->when_ns = RS_SYNTH_FIRST_NS + len_ns;
}

void rs_synth_repeat(struct rs_synth *s, uint32_t task, uint32_t from, uint64_t times)
{
	struct rs_op *op;

	if (times < 2)
		return;
	op = rs_synth_op(s, task, 0, RS_OP_REPEAT);
	op->arg = from;
	op->len_ns = times - 1;
}

void rs_synth_lasts(struct rs_synth *s, uint64_t ns)
{
	s->workload->info.last_ns = RS_SYNTH_FIRST_NS + ns;
}

/* ---- parameters ---- */

static const struct rs_synth_maker *find_maker(const char *name)
{
	for (size_t i = 0; i < NR_MAKERS; i++) {
		if (!strcmp(makers[i]->name, name))
			return makers[i];
	}
	return NULL;
}

int resched_synth_name(unsigned int idx, const char **name, const char **about)
{
	if (idx >= NR_MAKERS)
		return 0;
	*name = makers[idx]->name;
	*about = makers[idx]->about;
	return 1;
}

int resched_synth_param(const char *name, unsigned int idx, struct resched_synth_param *ret)
{
	const struct rs_synth_maker *maker = find_maker(name);
	const struct rs_synth_param *p;

	if (!maker || idx >= maker->nr_params)
		return 0;
	p = &maker->params[idx];
	*ret = (struct resched_synth_param){ p->name, p->letter, p->kind == RS_PARAM_FLAG, p->value, p->text };
	return 1;
}

static int usage(struct resched_error *err, const struct rs_synth_maker *maker, const char *word, const char *why)
{
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "%s: '%.80s' %s; 'resched synth %s --list' shows its parameters", maker->name, word, why,
			    maker->name);
}

static int parse_value(const struct rs_synth_param *p, const char *text, uint64_t *ret)
{
	uint64_t value;
	int rc;

	if (p->kind == RS_PARAM_NICE) {
		bool negative = *text == '-';

		if (rs_uint_parse(text + negative, &value) < 0 || value > (negative ? 20u : 19u))
			return -EINVAL;
		*ret = negative ? 0 - value : value;
		return 0;
	}
	rc = p->kind == RS_PARAM_TIME ? rs_time_parse(text, p->unit_ns, &value) : rs_uint_parse(text, &value);
	if (rc < 0 || (p->kind != RS_PARAM_FLAG && (value < p->least || value > p->greatest)) || (p->kind == RS_PARAM_FLAG && value > 1))
		return -EINVAL;
	*ret = value;
	return 0;
}

static const struct rs_synth_param *find_param(const struct rs_synth_maker *maker, const char *name, size_t len, char letter, unsigned int *idx)
{
	for (*idx = 0; *idx < maker->nr_params; (*idx)++) {
		const struct rs_synth_param *p = &maker->params[*idx];

		if (letter ? p->letter == letter : strlen(p->name) == len && !memcmp(p->name, name, len))
			return p;
	}
	return NULL;
}

/* The parameter at words[*i], and its value if that is in the same word. */
static const struct rs_synth_param *split_word(const struct rs_synth_maker *maker, const char *word, const char **value, unsigned int *idx)
{
	const struct rs_synth_param *p;
	const char *name = word;
	size_t len;

	*value = NULL;
	if (word[0] == '-' && word[1] && word[1] != '-') {
		p = find_param(maker, "", 0, word[1], idx);
		if (word[2])
			*value = word + 2 + (word[2] == '=');
		return p;
	}
	if (!strncmp(word, "--", 2))
		name += 2;
	len = strcspn(name, "=");
	if (name[len])
		*value = name + len + 1;
	p = find_param(maker, name, len, 0, idx);
	return p || len != 1 ? p : find_param(maker, "", 0, name[0], idx);
}

static int parse_words(const struct rs_synth_maker *maker, unsigned int nr, const char *const *words, uint64_t *values, struct resched_error *err)
{
	for (unsigned int i = 0; i < maker->nr_params; i++) {
		values[i] = 0;
		if (parse_value(&maker->params[i], maker->params[i].value, &values[i]) < 0)
			return usage(err, maker, maker->params[i].name, "has no default");
	}
	for (unsigned int i = 0; i < nr; i++) {
		const char *word = words[i], *value;
		unsigned int idx;
		const struct rs_synth_param *p = split_word(maker, word, &value, &idx);

		if (!p)
			return usage(err, maker, word, "is no parameter of it");
		if (!value && p->kind == RS_PARAM_FLAG)
			value = "1";
		if (!value && i + 1 < nr && word[0] == '-')
			value = words[++i];
		if (!value)
			return usage(err, maker, word, "wants a value");
		if (parse_value(p, value, &values[idx]) < 0)
			return usage(err, maker, word, "is no value for it, or out of range");
	}
	return 0;
}

/* ---- the machine ---- */

static int replace_text(char **text, const char *by)
{
	if (*text)
		return 0;
	*text = strdup(by);
	return *text ? 0 : -ENOMEM;
}

/* A copy of the machine, without what runs on it. */
static int take_host(const struct resched_host *host, struct resched_workload *workload, struct resched_error *err)
{
	struct resched_host bare = *host;
	int rc;

	bare.nr_tasks = bare.nr_cgroups = bare.nr_unknown = 0;
	bare.autogroup = 0;
	bare.taken_ns = 0;
	rc = resched_host_copy(&bare, &workload->host, err);
	if (rc < 0)
		return rc;
	if (!workload->host->hz)
		workload->host->hz = DEFAULT_HZ;
	return replace_text(&workload->host->kernel, DEFAULT_KERNEL) < 0 ? rs_error_nomem(err) : 0;
}

static int list_cpus(struct rs_synth *s, struct resched_error *err)
{
	const struct resched_host *host = s->workload->host;

	s->cpus = calloc(host->nr_cpus ? host->nr_cpus : 1, sizeof(*s->cpus));
	if (!s->cpus)
		return rs_error_nomem(err);
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (host->cpus[i].online && host->cpus[i].cpu < UINT16_MAX)
			s->cpus[s->nr_cpus++] = host->cpus[i].cpu;
	}
	if (!s->nr_cpus)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "the machine has no cpu online");
	s->workload->max_cpu = s->cpus[s->nr_cpus - 1] + 1;
	return 0;
}

static void set_timing(struct resched_workload *workload)
{
	struct resched_workload_info *info = &workload->info;

	info->first_ns = info->last_ns = RS_SYNTH_FIRST_NS;
	info->hz = workload->host->hz;
	info->tick_ns = 1000000000u / info->hz;
	info->tick_confidence = 1;
	info->idle_exit_ns = IDLE_EXIT_NS;
	info->preempt_delay_ns = PREEMPT_DELAY_NS;
	info->tick_delay_ns = TICK_DELAY_NS;
	workload->placeless = true;
}

int resched_synth(const char *name, unsigned int nr_words, const char *const *words, const struct resched_host *host, uint64_t seed,
		  struct resched_workload **ret, struct resched_error *err)
{
	const struct rs_synth_maker *maker = find_maker(name);
	uint64_t values[RS_SYNTH_MAX_PARAMS];
	struct rs_synth s = { .values = values, .rng = { seed } };
	int rc;

	if (!maker)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "there is no workload '%.80s'; 'resched synth --list' names them", name);
	rc = parse_words(maker, nr_words, words, values, err);
	if (rc < 0)
		return rc;
	s.workload = rs_workload_alloc();
	if (!s.workload)
		return rs_error_nomem(err);
	rc = take_host(host, s.workload, err);
	if (rc >= 0)
		rc = list_cpus(&s, err);
	if (rc >= 0) {
		set_timing(s.workload);
		maker->make(&s);
		rc = s.failed;
		if (rc == -E2BIG)
			rs_error_set(err, RESCHED_USAGE, rc, "%s with these parameters has more than %u tasks or %u operations", name,
				     RS_SYNTH_MAX_TASKS, RS_SYNTH_MAX_OPS);
		else if (rc < 0)
			rs_error_nomem(err);
	}
	if (rc >= 0) {
		rs_workload_count(s.workload);
		rc = rs_workload_check(s.workload, name, NULL, err);
	}
	if (rc >= 0) {
		*ret = s.workload;
		s.workload = NULL;
	}
	resched_workload_free(s.workload);
	free(s.cpus);
	return rc < 0 ? rc : 0;
}
