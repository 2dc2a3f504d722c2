// SPDX-License-Identifier: GPL-2.0-only
/*
 * Servers: tasks that several others wake and wait for, and that wake those in turn.
 *
 * A recording shows a request only when the server slept: one that finds it busy wakes nobody. In another order it is another request
 * that finds it asleep, so which ones wake it has to be decided anew. What a client waits for is an answer to its request, whenever that
 * was made; what a server waits for is any request. It answers who the recording says if that one asks, else who has asked first.
 *
 * A server must not have been seen to sleep while a client waited for it: such a client waits for something else.
 */
#include "replay/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SLEEPS 10u
#define MIN_CLIENTS 2u
#define PERCENT_OF_CLIENT 85u	/* of a client's causal sleeps the server ends */
#define PERCENT_OF_SERVER 85u	/* of a server's causal sleeps clients end */
#define PERCENT_IDLE_ASKED 5u	/* of a server's sleeps may lie inside a client's wait: clocks of cpus differ, some requests are cancelled */

struct sleep {
	uint64_t from_ns, to_ns;
};

struct search {
	struct resched_workload *workload;
	uint32_t *server; /* of each task; RS_NO_TASK: it is nobody's client */
	uint32_t *count; /* scratch, one a task, zero between uses */
	struct sleep *sleeps; /* of one server */
	uint32_t nr_sleeps;
	/* By operation of a client, and of its server: 0, or what comes after it lasted at least so long without being recorded. */
	uint64_t *prompt, *prompt_request;
};

static bool is_causal(const struct rs_op *op)
{
	return op->kind == RS_OP_BLOCK && op->rule == RS_RULE_CAUSAL;
}

/* Who ends the causal sleeps of @program, if it is nearly always the same task. */
static uint32_t only_waker(const struct search *s, const struct rs_program *program)
{
	uint32_t nr = 0, best = RS_NO_TASK;

	for (uint32_t i = 0; i < program->nr_ops; i++) {
		const struct rs_op *op = &program->ops[i];

		if (!is_causal(op))
			continue;
		nr++;
		s->count[op->arg]++;
		if (best == RS_NO_TASK || s->count[op->arg] > s->count[best])
			best = op->arg;
	}
	if (best != RS_NO_TASK && s->count[best] * 100 < nr * PERCENT_OF_CLIENT)
		best = RS_NO_TASK;
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		if (is_causal(&program->ops[i]))
			s->count[program->ops[i].arg] = 0;
	}
	return best;
}

static bool is_client(const struct search *s, uint32_t task, uint32_t server)
{
	return s->server[task] == server;
}

/* Sleeps of @server that clients end. Return: whether nearly all its causal ones are. */
static bool collect_sleeps(struct search *s, uint32_t server)
{
	const struct rs_program *program = &s->workload->tasks[server];
	uint32_t nr = 0;

	s->nr_sleeps = 0;
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		const struct rs_op *op = &program->ops[i];

		if (!is_causal(op))
			continue;
		nr++;
		if (is_client(s, op->arg, server))
			s->sleeps[s->nr_sleeps++] = (struct sleep){ op->when_ns - op->len_ns, op->when_ns };
	}
	return s->nr_sleeps >= MIN_SLEEPS && s->nr_sleeps * 100 >= nr * PERCENT_OF_SERVER;
}

/* Sleeps of the server that lie inside [@from_ns, @to_ns]. */
static uint32_t sleeps_inside(const struct search *s, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t lo = 0, hi = s->nr_sleeps, nr = 0;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->sleeps[mid].from_ns <= from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->nr_sleeps && s->sleeps[lo].to_ns < to_ns; lo++)
		nr++;
	return nr;
}

static bool leaves_nobody_waiting(const struct search *s, uint32_t server)
{
	uint64_t bad = 0;

	for (uint32_t t = 0; t < s->workload->nr_tasks; t++) {
		const struct rs_program *program = &s->workload->tasks[t];

		for (uint32_t i = 0; is_client(s, t, server) && i < program->nr_ops; i++) {
			const struct rs_op *op = &program->ops[i];

			if (is_causal(op) && op->arg == server)
				bad += sleeps_inside(s, op->when_ns - op->len_ns, op->when_ns);
		}
	}
	return bad * 100 <= (uint64_t)s->nr_sleeps * PERCENT_IDLE_ASKED;
}

/* When the server went to sleep next after @ts; UINT64_MAX: not any more. */
static uint64_t next_sleep(const struct search *s, uint64_t ts)
{
	uint32_t lo = 0, hi = s->nr_sleeps;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->sleeps[mid].from_ns <= ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nr_sleeps ? s->sleeps[lo].from_ns : UINT64_MAX;
}

/* A request at @ts was answered before the server slept again, and its client had not got to its own sleep by then. */
static void mark_prompt(const struct search *s, uint64_t *request, uint64_t *answer, uint64_t ts)
{
	*request = next_sleep(s, ts) - ts;
	*answer = 1;
}

/* The next sleep of @server, from operation *@at on, that @client ended; NULL: none. */
static struct rs_op *next_request(const struct search *s, uint32_t server, uint32_t client, uint32_t *at)
{
	struct rs_program *program = &s->workload->tasks[server];

	while (*at < program->nr_ops) {
		struct rs_op *op = &program->ops[(*at)++];

		if (op->kind == RS_OP_BLOCK && op->rule == RS_RULE_REQUEST && op->arg == client)
			return op;
	}
	return NULL;
}

/*
 * Requests of @client that woke @server, and the sleeps that followed. A request that was answered before the client got to its sleep
 * shows none: it and the sleep of the server that it ended are marked as prompt.
 */
static void mark_client(struct search *s, uint32_t client, uint32_t server)
{
	struct rs_program *program = &s->workload->tasks[client];
	struct rs_op *first = s->workload->tasks[server].ops, *asked = NULL;
	uint32_t ask = UINT32_MAX, at = 0;

	memset(s->prompt, 0, program->nr_ops * sizeof(*s->prompt));
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		struct rs_op *op = &program->ops[i];

		if (op->kind == RS_OP_WAKE && op->arg == server) {
			if (ask != UINT32_MAX)
				mark_prompt(s, &s->prompt[ask], &s->prompt_request[asked - first], asked->when_ns);
			asked = next_request(s, server, client, &at);
			ask = asked ? i : UINT32_MAX;
			op->rule = asked ? RS_WAKE_ASK : op->rule;
		} else if (is_causal(op) && op->arg == server) {
			op->rule = RS_RULE_ANSWER;
			if (ask != UINT32_MAX && next_sleep(s, asked->when_ns) <= op->when_ns - op->len_ns)
				mark_prompt(s, &s->prompt[ask], &s->prompt_request[asked - first], asked->when_ns);
			ask = UINT32_MAX;
		}
	}
	if (ask != UINT32_MAX && next_sleep(s, asked->when_ns) != UINT64_MAX)
		mark_prompt(s, &s->prompt[ask], &s->prompt_request[asked - first], asked->when_ns);
	else if (ask != UINT32_MAX)
		program->ops[ask].rule = RS_WAKE_COUNTED; /* the recording ends before the answer */
}

static void mark_server(const struct search *s, uint32_t server)
{
	struct rs_program *program = &s->workload->tasks[server];

	for (uint32_t i = 0; i < program->nr_ops; i++) {
		struct rs_op *op = &program->ops[i];

		if (op->kind == RS_OP_WAKE && is_client(s, op->arg, server))
			op->rule = RS_WAKE_ANSWER;
		else if (is_causal(op)) /* whoever ended it: it waits for any of them */
			op->rule = RS_RULE_REQUEST;
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_rule(const struct rs_op *op, enum rs_op_kind kind, unsigned int rule)
{
	return op->kind == kind && op->rule == rule;
}

/* Median demand between an operation of one kind and the one of another that follows it at once. */
static int usual_gap(const struct rs_program *program, struct rs_op from, struct rs_op to, uint64_t *ret)
{
	uint64_t *gaps = malloc(((size_t)program->nr_ops + 1) * sizeof(*gaps));
	uint32_t nr = 0;

	if (!gaps)
		return -ENOMEM;
	for (uint32_t i = 1; i < program->nr_ops; i++) {
		if (is_rule(&program->ops[i - 1], from.kind, from.rule) && is_rule(&program->ops[i], to.kind, to.rule))
			gaps[nr++] = program->ops[i].run_ns;
	}
	qsort(gaps, nr, sizeof(*gaps), compare_u64);
	*ret = nr ? gaps[nr / 2] : 0;
	free(gaps);
	return 0;
}

/* After each operation with a @mark, all of them like @after, put one like @what, with the same task and cpu. */
static int fill(struct rs_program *program, const uint64_t *mark, struct rs_op after, struct rs_op what)
{
	struct rs_program filled = { 0 };
	uint64_t usual;
	int rc = usual_gap(program, after, what, &usual);

	for (uint32_t i = 0; i < program->nr_ops && !rc; i++) {
		struct rs_op *op = rs_program_append(&filled), *next = i + 1 < program->nr_ops ? &program->ops[i + 1] : NULL;

		if (op)
			*op = program->ops[i];
		if (op && mark[i]) {
			uint32_t arg = op->arg;
			uint16_t cpu = op->cpu;

			op = rs_program_append(&filled);
			if (op) {
				op->kind = what.kind;
				op->rule = what.rule;
				op->arg = arg;
				op->cpu = cpu;
				op->run_ns = mark[i] > usual ? mark[i] : usual;
				if (next && op->run_ns > next->run_ns)
					op->run_ns = next->run_ns;
			}
			if (op && next)
				next->run_ns -= op->run_ns;
		}
		rc = op ? 0 : -ENOMEM;
	}
	if (rc) {
		free(filled.ops);
		return rc;
	}
	free(program->ops);
	program->ops = filled.ops;
	program->nr_ops = filled.nr_ops;
	program->room = filled.room;
	return 0;
}

static int mark_all(struct search *s, uint32_t server)
{
	static const struct rs_op ask = { .kind = RS_OP_WAKE, .rule = RS_WAKE_ASK }, answer = { .kind = RS_OP_WAKE, .rule = RS_WAKE_ANSWER },
				  request = { .kind = RS_OP_BLOCK, .rule = RS_RULE_REQUEST },
				  wait = { .kind = RS_OP_BLOCK, .rule = RS_RULE_ANSWER };
	int rc = 0;

	mark_server(s, server);
	memset(s->prompt_request, 0, s->workload->tasks[server].nr_ops * sizeof(*s->prompt_request));
	for (uint32_t t = 0; t < s->workload->nr_tasks && !rc; t++) {
		if (!is_client(s, t, server))
			continue;
		mark_client(s, t, server);
		rc = fill(&s->workload->tasks[t], s->prompt, ask, wait);
	}
	return rc ? rc : fill(&s->workload->tasks[server], s->prompt_request, request, answer);
}

/* Is @server one? */
static bool judge(struct search *s, uint32_t server)
{
	uint32_t clients = 0;

	for (uint32_t t = 0; t < s->workload->nr_tasks; t++)
		clients += is_client(s, t, server);
	return clients >= MIN_CLIENTS && !s->workload->tasks[server].kthread && collect_sleeps(s, server) && leaves_nobody_waiting(s, server);
}
int rs_servers_find(struct resched_workload *workload)
{
	struct search s = { .workload = workload };
	uint32_t longest = 0;
	int rc = 0;

	for (uint32_t t = 0; t < workload->nr_tasks; t++)
		longest = workload->tasks[t].nr_ops > longest ? workload->tasks[t].nr_ops : longest;
	s.server = malloc(((size_t)workload->nr_tasks + 1) * sizeof(*s.server));
	s.count = calloc((size_t)workload->nr_tasks + 1, sizeof(*s.count));
	s.sleeps = malloc(((size_t)longest + 1) * sizeof(*s.sleeps));
	s.prompt = malloc(((size_t)longest + 1) * sizeof(*s.prompt));
	s.prompt_request = malloc(((size_t)longest + 1) * sizeof(*s.prompt_request));
	if (!s.server || !s.count || !s.sleeps || !s.prompt || !s.prompt_request) {
		rc = -ENOMEM;
		goto out;
	}
	for (uint32_t t = 0; t < workload->nr_tasks; t++)
		s.server[t] = only_waker(&s, &workload->tasks[t]);
	for (uint32_t t = 0; t < workload->nr_tasks; t++) {
		if (s.server[t] != RS_NO_TASK)
			s.count[s.server[t]] = 1;
	}
	for (uint32_t t = 0; t < workload->nr_tasks && !rc; t++) {
		if (s.count[t] && judge(&s, t))
			rc = mark_all(&s, t);
	}
out:
	free(s.prompt);
	free(s.prompt_request);
	free(s.server);
	free(s.count);
	free(s.sleeps);
	return rc;
}
