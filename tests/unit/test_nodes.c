// SPDX-License-Identifier: GPL-2.0-only
/* Entities that compete: climbing to the queue that two of them share, and what comes of two that share none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/group.h"

/* Two cpus, each with a root and a group's queue, and a task in each of the four. */
struct tree { struct rs_level root[2], inner[2]; struct rs_node group[2], top[2], deep[2]; };

static void plant(struct tree *t)
{
	*t = (struct tree){ 0 };
	for (int i = 0; i < 2; i++) {
		t->group[i] = (struct rs_node){ .queue = &t->root[i], .own = &t->inner[i] };
		t->top[i] = (struct rs_node){ .queue = &t->root[i] };
		t->deep[i] = (struct rs_node){ .parent = &t->group[i], .queue = &t->inner[i], .depth = 1 };
	}
}

static void one_tree(void **state)
{
	struct tree t;
	struct rs_node *a, *b;

	(void)state;
	plant(&t);
	a = &t.deep[0];
	b = &t.top[0];
	assert_true(rs_match_nodes(&a, &b));
	assert_ptr_equal(a, &t.group[0]);
	assert_ptr_equal(b, &t.top[0]);
	a = &t.deep[0];
	b = &t.deep[0];
	assert_true(rs_match_nodes(&a, &b));
	assert_ptr_equal(a, &t.deep[0]);
}

/* A recording with losses put the running task and the woken one on two cpus: an explanation crashed. */
static void two_trees(void **state)
{
	struct tree t;

	(void)state;
	plant(&t);
	for (int i = 0; i < 4; i++) {
		struct rs_node *a = i & 1 ? &t.deep[0] : &t.top[0], *b = i & 2 ? &t.deep[1] : &t.top[1];

		assert_false(rs_match_nodes(&a, &b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(one_tree), cmocka_unit_test(two_trees) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
