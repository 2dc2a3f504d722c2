/* SPDX-License-Identifier: GPL-2.0-only */
/* The ops tables of the policies; others find them by name, rs_policy_ops_find(). */
#ifndef RS_POLICIES_REGISTRY_H
#define RS_POLICIES_REGISTRY_H

#include "policies/policy.h"

extern const struct rs_policy_ops rs_eevdf_ops, rs_evdf_ops, rs_cfs_ops;

#endif
