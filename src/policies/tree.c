// SPDX-License-Identifier: GPL-2.0-only
#include "policies/tree.h"

static bool is_red(const struct rs_tree_node *node)
{
	return node && node->red;
}

static void update(const struct rs_tree *tree, struct rs_tree_node *node)
{
	if (tree->update)
		tree->update(node);
}

/* Recompute the subtree values of @node and above, as far up as they change. */
static void update_path(const struct rs_tree *tree, struct rs_tree_node *node)
{
	if (!tree->update)
		return;
	while (node && tree->update(node))
		node = node->parent;
}

/* Put @new where @old hangs; @new may be NULL. */
static void replace_child(struct rs_tree *tree, struct rs_tree_node *old, struct rs_tree_node *new)
{
	struct rs_tree_node *parent = old->parent;

	if (!parent)
		tree->root = new;
	else if (parent->left == old)
		parent->left = new;
	else
		parent->right = new;
	if (new)
		new->parent = parent;
}

static void rotate_left(struct rs_tree *tree, struct rs_tree_node *node)
{
	struct rs_tree_node *up = node->right;

	node->right = up->left;
	if (up->left)
		up->left->parent = node;
	replace_child(tree, node, up);
	up->left = node;
	node->parent = up;
	update(tree, node);
	update(tree, up);
}

static void rotate_right(struct rs_tree *tree, struct rs_tree_node *node)
{
	struct rs_tree_node *up = node->left;

	node->left = up->right;
	if (up->right)
		up->right->parent = node;
	replace_child(tree, node, up);
	up->right = node;
	node->parent = up;
	update(tree, node);
	update(tree, up);
}

static void insert_fixup(struct rs_tree *tree, struct rs_tree_node *node)
{
	while (is_red(node->parent)) {
		struct rs_tree_node *parent = node->parent, *grand = parent->parent;
		bool left = parent == grand->left;
		struct rs_tree_node *uncle = left ? grand->right : grand->left;

		if (is_red(uncle)) {
			parent->red = uncle->red = false;
			grand->red = true;
			node = grand;
			continue;
		}
		if (node == (left ? parent->right : parent->left)) {
			if (left)
				rotate_left(tree, parent);
			else
				rotate_right(tree, parent);
			parent = node;
		}
		parent->red = false;
		grand->red = true;
		if (left)
			rotate_right(tree, grand);
		else
			rotate_left(tree, grand);
		break;
	}
	tree->root->red = false;
}

void rs_tree_insert(struct rs_tree *tree, struct rs_tree_node *node)
{
	struct rs_tree_node *parent = NULL, **link = &tree->root;
	bool first = true;

	while (*link) {
		parent = *link;
		if ((int64_t)(node->key - parent->key) < 0) {
			link = &parent->left;
		} else {
			link = &parent->right;
			first = false;
		}
	}
	node->parent = parent;
	node->left = node->right = NULL;
	node->red = true;
	*link = node;
	if (first)
		tree->first = node;
	update(tree, node);
	update_path(tree, parent);
	insert_fixup(tree, node);
}

/* One black node is missing on the way to @node (maybe NULL), a child of @parent. */
static void erase_fixup(struct rs_tree *tree, struct rs_tree_node *node, struct rs_tree_node *parent)
{
	while (parent && !is_red(node)) {
		bool left = node == parent->left;
		struct rs_tree_node *sibling = left ? parent->right : parent->left;
		struct rs_tree_node *outer, *inner;

		if (sibling->red) {
			sibling->red = false;
			parent->red = true;
			if (left)
				rotate_left(tree, parent);
			else
				rotate_right(tree, parent);
			sibling = left ? parent->right : parent->left;
		}
		outer = left ? sibling->right : sibling->left;
		inner = left ? sibling->left : sibling->right;
		if (!is_red(outer) && !is_red(inner)) {
			sibling->red = true;
			node = parent;
			parent = node->parent;
			continue;
		}
		if (!is_red(outer)) {
			inner->red = false;
			sibling->red = true;
			if (left)
				rotate_right(tree, sibling);
			else
				rotate_left(tree, sibling);
			outer = sibling;
			sibling = inner;
		}
		sibling->red = parent->red;
		parent->red = false;
		outer->red = false;
		if (left)
			rotate_left(tree, parent);
		else
			rotate_right(tree, parent);
		return;
	}
	if (node)
		node->red = false;
}

void rs_tree_erase(struct rs_tree *tree, struct rs_tree_node *node)
{
	struct rs_tree_node *child, *parent, *changed;
	bool was_red;

	if (tree->first == node)
		tree->first = rs_tree_next(node);
	if (!node->left || !node->right) {
		child = node->left ? node->left : node->right;
		parent = changed = node->parent;
		was_red = node->red;
		replace_child(tree, node, child);
	} else {
		struct rs_tree_node *next = rs_tree_next(node);

		child = next->right;
		was_red = next->red;
		parent = next->parent == node ? next : next->parent;
		if (parent != next) {
			replace_child(tree, next, child);
			next->right = node->right;
			next->right->parent = next;
		}
		replace_child(tree, node, next);
		next->left = node->left;
		next->left->parent = next;
		next->red = node->red;
		/* What @next holds is of its old subtree, so nothing up to it says whether those above changed. */
		for (changed = parent; changed != next; changed = changed->parent)
			update(tree, changed);
		update(tree, next);
		changed = next->parent;
	}
	update_path(tree, changed);
	if (!was_red)
		erase_fixup(tree, child, parent);
}

void rs_tree_refresh(struct rs_tree *tree, struct rs_tree_node *node)
{
	update_path(tree, node);
}

struct rs_tree_node *rs_tree_next(const struct rs_tree_node *node)
{
	struct rs_tree_node *next = node->right;

	if (next) {
		while (next->left)
			next = next->left;
		return next;
	}
	while (node->parent && node == node->parent->right)
		node = node->parent;
	return node->parent;
}
