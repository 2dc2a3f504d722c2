// SPDX-License-Identifier: GPL-2.0-only
/* The policies there are. A new one is its own file and a line here, plus its row of models in model.c. */
#include "policies/registry.h"

#include <string.h>

static const struct rs_policy_ops *const all_ops[] = { &rs_eevdf_ops, &rs_evdf_ops, &rs_cfs_ops };

const struct rs_policy_ops *rs_policy_ops_find(const char *name)
{
	for (size_t i = 0; name && i < sizeof(all_ops) / sizeof(all_ops[0]); i++) {
		if (!strcmp(all_ops[i]->name, name))
			return all_ops[i];
	}
	return NULL;
}
