/* SPDX-License-Identifier: GPL-2.0-only */
/* Scheduling domains as part of what `topology` prints. Nothing is printed of a machine of which nothing is known. */
#ifndef RS_REPORT_DOMAINS_H
#define RS_REPORT_DOMAINS_H

#include <resched/report.h>

#include "report/json.h"
#include "report/text.h"

/* A table; of the first cpu unless @opts->cpus says which. */
int rs_domains_text(FILE *out, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err);
/* "domains": [{"cpu", "levels": [...]}]; of all cpus unless @opts->cpus says which. */
int rs_domains_json(struct rs_json *doc, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err);

#endif
