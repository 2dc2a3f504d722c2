// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task states from the print format of sched_switch. What is looked for, with constants of any spelling:
 *     __print_flags(REC->prev_state & MASK, "|", { BIT, "S" }, ...) : "R", REC->prev_state & BIT ? "+" : ""
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <resched/event.h>

#include "trace/format.h"

#define EXPR_MAX_DEPTH 64

/* A constant expression: numbers, parentheses, | & + - << >>; anything else sets bad. */
struct expr { const char *p; bool bad; int depth; };

static uint64_t expr_or(struct expr *e);

static void blanks(struct expr *e)
{
	while (*e->p == ' ' || *e->p == '\t')
		e->p++;
}

static uint64_t expr_value(struct expr *e)
{
	uint64_t v = 0;
	char *end;

	blanks(e);
	if (e->depth > EXPR_MAX_DEPTH) {
		e->bad = true;
	} else if (*e->p == '(') {
		e->p++;
		e->depth++;
		v = expr_or(e);
		e->depth--;
		blanks(e);
		if (*e->p == ')')
			e->p++;
		else
			e->bad = true;
	} else if (isdigit((unsigned char)*e->p)) {
		v = strtoull(e->p, &end, 0);
		e->p = end;
		while (*e->p == 'U' || *e->p == 'L' || *e->p == 'u' || *e->p == 'l')
			e->p++;
	} else {
		e->bad = true;
	}
	return v;
}

static uint64_t expr_sum(struct expr *e)
{
	uint64_t v = expr_value(e);

	while (!e->bad) {
		blanks(e);
		if (*e->p == '+') {
			e->p++;
			v += expr_value(e);
		} else if (*e->p == '-') {
			e->p++;
			v -= expr_value(e);
		} else {
			break;
		}
	}
	return v;
}

static uint64_t expr_shift(struct expr *e)
{
	uint64_t v = expr_sum(e);

	for (;;) {
		bool left;
		uint64_t n;

		blanks(e);
		if (e->bad || (strncmp(e->p, "<<", 2) && strncmp(e->p, ">>", 2)))
			return v;
		left = *e->p == '<';
		e->p += 2;
		n = expr_sum(e);
		if (n > 63)
			e->bad = true;
		else
			v = left ? v << n : v >> n;
	}
}

static uint64_t expr_and(struct expr *e)
{
	uint64_t v = expr_shift(e);

	for (;;) {
		blanks(e);
		if (e->bad || *e->p != '&')
			return v;
		e->p++;
		v &= expr_shift(e);
	}
}

static uint64_t expr_or(struct expr *e)
{
	uint64_t v = expr_and(e);

	for (;;) {
		blanks(e);
		if (e->bad || *e->p != '|')
			return v;
		e->p++;
		v |= expr_and(e);
	}
}

static bool expect(struct expr *e, const char *text)
{
	size_t len = strlen(text);

	blanks(e);
	if (e->bad || strncmp(e->p, text, len)) {
		e->bad = true;
		return false;
	}
	e->p += len;
	return true;
}

/* The state a kernel letter stands for; kernels have printed the dead as X, x, or both. */
static uint16_t letter_state(const char *name, size_t len)
{
	if (len != 1)
		return RESCHED_STATE_OTHER;
	switch (*name) {
	case 'S': return RESCHED_STATE_S;
	case 'D': return RESCHED_STATE_D;
	case 'T': return RESCHED_STATE_T;
	case 't': return RESCHED_STATE_t;
	case 'X': case 'x': return RESCHED_STATE_X;
	case 'Z': return RESCHED_STATE_Z;
	case 'P': return RESCHED_STATE_P;
	case 'I': return RESCHED_STATE_I;
	default: return RESCHED_STATE_OTHER;
	}
}

/* REC->prev_state [& MASK], "|", { BIT, "S" }, ... up to the closing parenthesis */
static bool parse_flags(struct rs_states *st, struct expr *e)
{
	expect(e, "REC->prev_state");
	blanks(e);
	st->mask = UINT64_MAX;
	if (*e->p == '&') {
		e->p++;
		st->mask = expr_shift(e);
	}
	expect(e, ",");
	expect(e, "\"|\"");
	st->nr = 0;
	for (;;) {
		const char *name;
		uint64_t bit;

		blanks(e);
		if (e->bad || *e->p == ')')
			break;
		expect(e, ",");
		expect(e, "{");
		bit = expr_or(e);
		expect(e, ",");
		if (!expect(e, "\""))
			return false;
		name = e->p;
		e->p += strcspn(e->p, "\"\n");
		if (st->nr == RS_STATES_MAX || !bit)
			return false;
		st->bits[st->nr] = bit;
		st->states[st->nr++] = letter_state(name, (size_t)(e->p - name));
		expect(e, "\"");
		expect(e, "}");
	}
	return !e->bad && st->nr > 0;
}

/* REC->prev_state & BIT ? "+": the last test of prev_state before "+" . */
static bool parse_preempt(struct rs_states *st, const char *print)
{
	static const char subject[] = "REC->prev_state &";
	const char *plus = strstr(print, "\"+\""), *at = NULL, *next = print;
	struct expr e = { 0 };

	st->preempt = 0;
	if (!plus)
		return true;	/* before 2.6.36 or so: no mark of preemption */
	while ((next = strstr(next, subject)) != NULL && next < plus)
		at = next++;
	if (!at)
		return false;
	e.p = at + sizeof(subject) - 1;
	st->preempt = expr_shift(&e);
	return expect(&e, "?") && expect(&e, "\"+\"") && st->preempt;
}

uint32_t rs_states_slow(const struct rs_states *st, uint64_t raw)
{
	uint32_t state = 0;
	uint64_t bits;

	if (st->index_shifted && !(raw & st->preempt))
		raw >>= 1;	/* the mark of preemption alone is where the format says */
	bits = raw & st->mask;
	for (unsigned int i = 0; i < st->nr; i++) {
		if ((bits & st->bits[i]) == st->bits[i]) {
			state |= st->states[i];
			bits &= ~st->bits[i];
		}
	}
	if (bits & ~st->preempt)
		state |= RESCHED_STATE_OTHER;
	if (raw & st->preempt)
		state |= RESCHED_STATE_PREEMPT;
	return state;
}

static void fill_table(struct rs_states *st)
{
	for (unsigned int raw = 0; raw < RS_STATES_TABLE; raw++)
		st->table[raw] = rs_states_slow(st, raw);
}

/* Kernels since 4.20: report index as a bit, "+" the bit above the last. */
static void modern_rule(struct rs_states *st)
{
	static const uint16_t order[] = {
		RESCHED_STATE_S, RESCHED_STATE_D, RESCHED_STATE_T, RESCHED_STATE_t,
		RESCHED_STATE_X, RESCHED_STATE_Z, RESCHED_STATE_P, RESCHED_STATE_I,
	};

	memset(st, 0, sizeof(*st));
	st->mask = 0xff;
	st->preempt = 0x100;
	st->nr = sizeof(order) / sizeof(order[0]);
	for (unsigned int i = 0; i < st->nr; i++) {
		st->bits[i] = 1ull << i;
		st->states[i] = order[i];
	}
}

bool rs_states_parse(struct rs_states *st, const char *print)
{
	static const char flags[] = "__print_flags(";
	const char *at = strstr(print, flags);
	struct expr e = { 0 };
	bool good = false;

	memset(st, 0, sizeof(*st));
	if (at) {
		e.p = at + sizeof(flags) - 1;
		good = parse_flags(st, &e) && parse_preempt(st, print);
	}
	if (!good)
		modern_rule(st);
	fill_table(st);
	return good;
}

void rs_states_shift(struct rs_states *st)
{
	st->index_shifted = true;
	fill_table(st);
}
