/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ordered tree of a run queue: a red-black tree with the nodes inside the entities.
 *
 * Order: by key as a signed 64-bit difference (keys wrap), equal keys in the order they were inserted, as in the kernel. The shape is
 * the kernel's as well (textbook insertion, removal by the successor), because 6.6 breaks some ties by it.
 * Augmentation: an optional callback keeps values of a whole subtree in its root. Insert, erase and first are O(log n), O(log n),
 * O(1); nothing is allocated.
 */
#ifndef RS_POLICIES_TREE_H
#define RS_POLICIES_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rs_tree_node {
	struct rs_tree_node *parent, *left, *right;
	uint64_t key;
	bool red;
};

struct rs_tree {
	struct rs_tree_node *root, *first;
	/* Recompute @node's subtree values from itself and its children. Return: whether one changed, which those above depend on.
	 * May be NULL. */
	bool (*update)(struct rs_tree_node *node);
};

#define rs_tree_entry(node, type, member) ((type *)(void *)((char *)(node) - offsetof(type, member)))

/* rs_tree_insert() - add @node, whose key is set, behind all nodes with an equal key. @node is in no tree. */
void rs_tree_insert(struct rs_tree *tree, struct rs_tree_node *node);
/* rs_tree_erase() - take @node, which is in @tree, out. */
void rs_tree_erase(struct rs_tree *tree, struct rs_tree_node *node);
/* rs_tree_refresh() - values of @node, which is in @tree, changed: recompute those of the subtrees it is in. Its key is the same. */
void rs_tree_refresh(struct rs_tree *tree, struct rs_tree_node *node);
/* rs_tree_next() - the node after @node, NULL at the end. */
struct rs_tree_node *rs_tree_next(const struct rs_tree_node *node);

#endif
