// SPDX-License-Identifier: GPL-2.0-only
/* The machine as a tree: package, node, last-level cache, core, cpu. */
#include <resched/report.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/error.h"
#include "report/domains.h"
#include "report/json.h"
#include "report/text.h"

enum { LEVEL_PACKAGE = 0, LEVEL_NODE, LEVEL_LLC, LEVEL_CORE, NR_LEVELS };

static int id_of(const struct resched_host_cpu *c, unsigned int level)
{
	switch (level) {
	case LEVEL_PACKAGE: return c->package;
	case LEVEL_NODE: return c->node;
	case LEVEL_LLC: return c->llc;
	default: return c->core;
	}
}

static int compare_cpus(const void *a, const void *b)
{
	const struct resched_host_cpu *x = *(const struct resched_host_cpu *const *)a;
	const struct resched_host_cpu *y = *(const struct resched_host_cpu *const *)b;

	for (unsigned int level = 0; level < NR_LEVELS; level++) {
		if (id_of(x, level) != id_of(y, level))
			return id_of(x, level) < id_of(y, level) ? -1 : 1;
	}
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void put_id(struct rs_json *doc, struct json_object *o, const char *key, int id)
{
	if (id < 0)
		rs_json_null(doc, o, key);
	else
		rs_json_i64(doc, o, key, id);
}

static int topology_json(FILE *out, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err)
{
	struct json_object *list, *o;
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/topology/1");
	rs_json_text(&doc, doc.root, "kernel", host->kernel);
	rs_json_text(&doc, doc.root, "machine", host->machine);
	list = rs_json_array(&doc, doc.root, "cpus");
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		const struct resched_host_cpu *c = &host->cpus[i];

		o = rs_json_object(&doc, list, NULL);
		rs_json_u64(&doc, o, "cpu", c->cpu);
		rs_json_bool(&doc, o, "online", c->online);
		rs_json_bool(&doc, o, "isolated", c->isolated);
		put_id(&doc, o, "core", c->core);
		put_id(&doc, o, "cluster", c->cluster);
		put_id(&doc, o, "llc", c->llc);
		put_id(&doc, o, "die", c->die);
		put_id(&doc, o, "package", c->package);
		put_id(&doc, o, "node", c->node);
		rs_json_i64(&doc, o, "capacity", c->capacity);
	}
	list = rs_json_array(&doc, doc.root, "nodes");
	for (unsigned int i = 0; i < host->nr_nodes; i++) {
		struct json_object *distances;

		o = rs_json_object(&doc, list, NULL);
		rs_json_i64(&doc, o, "node", host->nodes[i].node);
		distances = rs_json_array(&doc, o, "distances");
		for (unsigned int d = 0; d < host->nodes[i].nr_distances; d++)
			rs_json_i64(&doc, distances, NULL, host->nodes[i].distances[d]);
	}
	rc = rs_domains_json(&doc, host, opts, err);
	if (rc >= 0)
		rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

static int topology_csv(FILE *out, const struct resched_host *host, struct resched_error *err)
{
	fputs("cpu,online,isolated,core,cluster,llc,die,package,node,capacity\n", out);
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		const struct resched_host_cpu *c = &host->cpus[i];

		fprintf(out, "%u,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", c->cpu, c->online, c->isolated, c->core, c->cluster, c->llc, c->die,
			c->package, c->node, c->capacity);
	}
	return rs_out_check(out, err);
}

static void print_cpu_list(FILE *out, const char *what, const struct resched_host *host, bool (*is)(const struct resched_host_cpu *))
{
	struct rs_cpuset set = { 0 };
	char text[200];

	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (is(&host->cpus[i]))
			rs_cpuset_add(&set, host->cpus[i].cpu);
	}
	if (!rs_cpuset_count(&set))
		return;
	rs_cpulist_format(&set, text, sizeof(text));
	fprintf(out, "%s: %s\n", what, text);
}

static bool is_offline(const struct resched_host_cpu *c)
{
	return !c->online;
}

static bool is_isolated(const struct resched_host_cpu *c)
{
	return c->isolated;
}

/* The cpus [from, to) of one last-level cache: its cores with their threads. */
static void print_cores(FILE *out, const struct resched_host_cpu *const *cpus, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++) {
		if (i == from || cpus[i]->core < 0 || cpus[i]->core != cpus[i - 1]->core)
			fprintf(out, "%s%u", i == from ? "" : "  ", cpus[i]->cpu);
		else
			fprintf(out, "+%u", cpus[i]->cpu);
		if (cpus[i]->capacity != 1024)
			fprintf(out, "(capacity %d)", cpus[i]->capacity);
	}
	fputc('\n', out);
}

static void print_tree(FILE *out, const struct resched_host_cpu *const *cpus, unsigned int nr, bool color)
{
	static const char *const names[] = { "package", "node", "llc" };
	unsigned int end;

	for (unsigned int i = 0; i < nr; i = end) {
		bool fresh = i == 0;

		for (unsigned int level = 0; level <= LEVEL_LLC; level++) {
			int id = id_of(cpus[i], level);

			fresh |= i > 0 && id != id_of(cpus[i - 1], level);
			if (!fresh)
				continue;
			fprintf(out, "%*s%s%s ", (int)(2 * level), "", rs_style_on(RS_STYLE_BOLD, color), names[level]);
			if (id < 0)
				fputs("unknown", out);
			else
				fprintf(out, "%d", id);
			fprintf(out, "%s%s", rs_style_off(RS_STYLE_BOLD, color), level == LEVEL_LLC ? ": cpus " : "\n");
		}
		for (end = i + 1; end < nr; end++) {
			if (id_of(cpus[end], LEVEL_PACKAGE) != id_of(cpus[i], LEVEL_PACKAGE) ||
			    id_of(cpus[end], LEVEL_NODE) != id_of(cpus[i], LEVEL_NODE) ||
			    id_of(cpus[end], LEVEL_LLC) != id_of(cpus[i], LEVEL_LLC))
				break;
		}
		print_cores(out, cpus, i, end);
	}
}

static int print_distances(FILE *out, const struct resched_host *host, bool color, struct resched_error *err)
{
	char align[66] = "";
	struct rs_table t;
	int rc;

	if (host->nr_nodes < 2 || host->nr_nodes > 64)
		return 0;
	memset(align, 'r', host->nr_nodes + 1);
	rs_table_init(&t, host->nr_nodes + 1, align);
	rs_table_cell(&t, RS_STYLE_BOLD, "distance");
	for (unsigned int i = 0; i < host->nr_nodes; i++)
		rs_table_cellf(&t, RS_STYLE_BOLD, "node %d", host->nodes[i].node);
	for (unsigned int i = 0; i < host->nr_nodes; i++) {
		rs_table_cellf(&t, RS_STYLE_BOLD, "node %d", host->nodes[i].node);
		for (unsigned int d = 0; d < host->nr_nodes; d++) {
			if (d < host->nodes[i].nr_distances)
				rs_table_cellf(&t, RS_STYLE_NONE, "%d", host->nodes[i].distances[d]);
			else
				rs_table_cell(&t, RS_STYLE_DIM, "?");
		}
	}
	fputc('\n', out);
	rc = rs_table_print(&t, out, 0, color, err);
	rs_table_release(&t);
	return rc;
}

static int topology_text(FILE *out, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err)
{
	bool color = opts->color;
	const struct resched_host_cpu **cpus = calloc(host->nr_cpus + 1u, sizeof(*cpus));
	unsigned int nr = 0;
	int rc;

	if (!cpus)
		return rs_error_nomem(err);
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (host->cpus[i].online)
			cpus[nr++] = &host->cpus[i];
	}
	qsort(cpus, nr, sizeof(*cpus), compare_cpus);
	fprintf(out, "%s, Linux %s: %u cpus online; cpus of one core are joined by +\n", host->machine ? host->machine : "unknown machine",
		host->kernel ? host->kernel : "unknown", nr);
	print_tree(out, cpus, nr, color);
	free(cpus);
	print_cpu_list(out, "offline", host, is_offline);
	print_cpu_list(out, "isolated", host, is_isolated);
	rc = print_distances(out, host, color, err);
	if (rc >= 0)
		rc = rs_domains_text(out, host, opts, err);
	return rc < 0 ? rc : rs_out_check(out, err);
}

int resched_print_topology(FILE *out, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err)
{
	if (opts->format == RESCHED_JSON)
		return topology_json(out, host, opts, err);
	if (opts->format == RESCHED_CSV)
		return topology_csv(out, host, err);
	return topology_text(out, host, opts, err);
}
