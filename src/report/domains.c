// SPDX-License-Identifier: GPL-2.0-only
/* Scheduling domains of cpus as the kernel would build them, for people and for scripts. */
#include "report/domains.h"

#include <errno.h>
#include <string.h>

#include <resched/topology.h>

#include "base/cpulist.h"
#include "base/error.h"

#define SPAN_TEXT 400u

/* Without any of these the levels would be invented. */
static bool is_known(const struct resched_host *host)
{
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (host->cpus[i].core >= 0 || host->cpus[i].llc >= 0 || host->cpus[i].package >= 0)
			return true;
	}
	return false;
}

/* Cpus whose domains are wanted. @fallback: 0 = the first, 1 = all. */
static int wanted_cpus(const struct resched_host *host, const char *list, bool all, struct rs_cpuset *ret, struct resched_error *err)
{
	if (list)
		return rs_cpulist_parse(list, ret) < 0
			       ? rs_error_set(err, RESCHED_USAGE, -EINVAL, "'%.80s' is no cpu list like 0-3,8", list) : 0;
	memset(ret, 0, sizeof(*ret));
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (!host->cpus[i].online)
			continue;
		rs_cpuset_add(ret, host->cpus[i].cpu);
		if (!all)
			break;
	}
	return 0;
}

static void flags_text(unsigned int flags, char *buf, size_t size)
{
	const char *name;
	size_t used = 0;
	unsigned int flag;

	buf[0] = '\0';
	for (unsigned int i = 0; (flag = resched_domain_flag_name(i, &name)); i++) {
		if (flags & flag && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " " : "", name);
	}
}

static int domain_row(struct rs_table *t, const struct resched_domains *d, unsigned int cpu, unsigned int idx, const struct resched_domain *dom)
{
	char span[SPAN_TEXT], group[SPAN_TEXT], flags[300];

	resched_domain_span(d, cpu, idx, -1, span, sizeof(span));
	resched_domain_span(d, cpu, idx, 0, group, sizeof(group));
	flags_text(dom->flags, flags, sizeof(flags));
	rs_table_cellf(t, RS_STYLE_NONE, "%u", cpu);
	rs_table_cell(t, RS_STYLE_BOLD, dom->name);
	rs_table_cell(t, RS_STYLE_NONE, span);
	rs_table_cellf(t, RS_STYLE_NONE, "%u", dom->weight);
	rs_table_cellf(t, RS_STYLE_NONE, "%u of %s", dom->nr_groups, group);
	rs_table_cellf(t, RS_STYLE_NONE, "%u%%", dom->imbalance_pct);
	rs_table_cellf(t, RS_STYLE_NONE, "%u..%u", dom->min_interval_ms, dom->max_interval_ms);
	rs_table_cellf(t, RS_STYLE_NONE, "%u", dom->imb_numa_nr);
	rs_table_cell(t, RS_STYLE_DIM, flags);
	return 0;
}

int rs_domains_text(FILE *out, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err)
{
	static const char *const heads[] = { "cpu", "domain", "cpus", "weight", "groups", "imbalance", "interval ms", "imb_numa", "flags" };
	struct resched_domains *d = NULL;
	struct resched_domain dom;
	struct rs_cpuset cpus;
	struct rs_table t;
	int rc;

	if (!is_known(host))
		return 0;
	rc = wanted_cpus(host, opts->cpus, false, &cpus, err);
	if (rc >= 0)
		rc = resched_domains_build(host, opts->kernel, &d, err);
	if (rc < 0)
		return rc;
	rs_table_init(&t, 9, "rllrlrrrl");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		rs_table_cell(&t, RS_STYLE_BOLD, heads[i]);
	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		for (unsigned int idx = 0; rs_cpuset_has(&cpus, cpu) && resched_domain_of(d, cpu, idx, &dom); idx++)
			domain_row(&t, d, cpu, idx, &dom);
	}
	fputc('\n', out);
	rc = rs_table_print(&t, out, 0, opts->color, err);
	rs_table_release(&t);
	resched_domains_free(d);
	return rc;
}

static void domain_json(struct rs_json *doc, struct json_object *list, const struct resched_domains *d, unsigned int cpu, unsigned int idx,
			const struct resched_domain *dom)
{
	struct json_object *o = rs_json_object(doc, list, NULL), *names;
	const char *name;
	char text[4096];
	unsigned int flag;

	rs_json_text(doc, o, "name", dom->name);
	resched_domain_span(d, cpu, idx, -1, text, sizeof(text));
	rs_json_text(doc, o, "span", text);
	rs_json_u64(doc, o, "weight", dom->weight);
	rs_json_u64(doc, o, "imbalance_pct", dom->imbalance_pct);
	rs_json_u64(doc, o, "cache_nice_tries", dom->cache_nice_tries);
	rs_json_u64(doc, o, "min_interval_ms", dom->min_interval_ms);
	rs_json_u64(doc, o, "max_interval_ms", dom->max_interval_ms);
	rs_json_u64(doc, o, "imb_numa_nr", dom->imb_numa_nr);
	names = rs_json_array(doc, o, "flags");
	for (unsigned int i = 0; (flag = resched_domain_flag_name(i, &name)); i++) {
		if (dom->flags & flag)
			rs_json_text(doc, names, NULL, name);
	}
	names = rs_json_array(doc, o, "groups");
	for (unsigned int g = 0; g < dom->nr_groups; g++) {
		resched_domain_span(d, cpu, idx, (int)g, text, sizeof(text));
		rs_json_text(doc, names, NULL, text);
	}
}

int rs_domains_json(struct rs_json *doc, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err)
{
	struct json_object *list = rs_json_array(doc, doc->root, "domains");
	struct resched_domains *d = NULL;
	struct resched_domain dom;
	struct rs_cpuset cpus;
	int rc;

	if (!is_known(host))
		return 0;
	rc = wanted_cpus(host, opts->cpus, true, &cpus, err);
	if (rc >= 0)
		rc = resched_domains_build(host, opts->kernel, &d, err);
	if (rc < 0)
		return rc;
	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		struct json_object *o, *levels;

		if (!rs_cpuset_has(&cpus, cpu))
			continue;
		o = rs_json_object(doc, list, NULL);
		rs_json_u64(doc, o, "cpu", cpu);
		levels = rs_json_array(doc, o, "levels");
		for (unsigned int idx = 0; resched_domain_of(d, cpu, idx, &dom); idx++)
			domain_json(doc, levels, d, cpu, idx, &dom);
	}
	resched_domains_free(d);
	return 0;
}
