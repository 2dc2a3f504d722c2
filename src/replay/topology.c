// SPDX-License-Identifier: GPL-2.0-only
/* Machines that come from text, from a preset or from a file. */
#include <resched/topology.h>

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <resched/trace.h>

#include "base/cpulist.h"
#include "base/error.h"

struct preset { const char *name, *spec, *about; };

static const struct preset presets[] = {
	{ "zen3-2s-nps1", "sockets=2,nodes=2,llc=8,cores=8,smt=2,far=32,reclaim=32", "two AMD Zen 3 sockets, 256 cpus, a node a socket" },
	{ "zen3-2s-nps2", "sockets=2,nodes=4,llc=4,cores=8,smt=2,far=32,reclaim=32", "the same, two nodes a socket" },
	{ "zen3-2s-nps4", "sockets=2,nodes=8,llc=2,cores=8,smt=2,far=32,reclaim=32", "the same, four nodes a socket" },
	{ "xeon8260", "sockets=2,nodes=2,llc=1,cores=24,smt=2,far=21", "two Intel Xeon Platinum 8260, 96 cpus" },
	{ "cascadelake96", "sockets=2,nodes=2,llc=1,cores=24,smt=2,far=21", "two Intel Xeon Gold 6252, 96 cpus" },
	{ "i7-4790", "sockets=1,nodes=1,llc=1,cores=4,smt=2", "a desktop with 8 cpus" },
	{ "skylake2", "sockets=1,nodes=1,llc=1,cores=2,smt=2", "a laptop with 4 cpus" },
	{ "powerpc480", "sockets=4,nodes=4,llc=15,cores=1,smt=8,numbering=adjacent,near=10,far=40", "480 cpus of POWER, assumed SMT8" },
	{ "powerpc96", "sockets=1,nodes=1,llc=12,cores=1,smt=8,numbering=adjacent", "96 cpus of POWER, assumed SMT8" },
	{ "hybrid-8p8e", "sockets=1,nodes=1,llc=1,cores=8,smt=2,numbering=adjacent,ecores=8,ecluster=4", "a laptop of 8 P-cores and 8 E-cores" },
	{ "biglittle", "sockets=1,nodes=1,llc=1,cores=4,smt=1,ecores=4,ecluster=0,capacity=446,ecapacity=1024",
	  "4 small cores (0-3) and 4 large ones (4-7) behind one cache" },
	{ "ampere-altra", "sockets=1,nodes=1,llc=1,cores=80,smt=1", "80 Arm cores behind one cache" },
	{ "vm2", "sockets=1,nodes=1,llc=1,cores=2,smt=1", "a guest of 2 cores with one cache" },
	{ "vm2-sockets", "sockets=2,nodes=1,llc=1,cores=1,smt=1", "a guest of 2 sockets of one cpu" },
	{ "vm2-threads", "sockets=1,nodes=1,llc=1,cores=1,smt=2", "a guest of one core with two threads" },
	{ "vm4", "sockets=1,nodes=1,llc=1,cores=4,smt=1", "a guest of 4 cores with one cache" },
	{ "m16", "sockets=1,nodes=1,llc=1,cores=8,smt=2", "8 cores, 16 cpus, one cache" },
	{ "big512", "sockets=8,nodes=8,llc=4,cores=8,smt=2,far=32", "512 cpus in 8 nodes" },
};

int resched_topology_preset(unsigned int idx, const char **name, const char **spec, const char **about)
{
	if (idx >= sizeof(presets) / sizeof(presets[0]))
		return 0;
	*name = presets[idx].name;
	*spec = presets[idx].spec;
	*about = presets[idx].about;
	return 1;
}

/* ---- text ---- */

struct shape {
	unsigned int sockets, nodes, llc, cores, smt, cluster, ecores, ecluster, capacity, ecapacity, near, far, reclaim;
	unsigned int adjacent;
	struct rs_cpuset isolated, offline;
};

struct number { const char *name; size_t at; unsigned int least, greatest; };

static const struct number numbers[] = {
#define NUMBER(name, least, greatest) { #name, offsetof(struct shape, name), least, greatest }
	NUMBER(sockets, 1, 256), NUMBER(nodes, 1, 256), NUMBER(llc, 1, 1024), NUMBER(cores, 0, 4096), NUMBER(smt, 1, 16),
	NUMBER(cluster, 0, 4096), NUMBER(ecores, 0, 4096), NUMBER(ecluster, 0, 4096), NUMBER(capacity, 1, 1024),
	NUMBER(ecapacity, 1, 1024), NUMBER(near, 10, 255), NUMBER(far, 10, 255), NUMBER(reclaim, 10, 255),
#undef NUMBER
};

static int bad_spec(struct resched_error *err, const char *item, const char *why)
{
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "topology '%.80s': %s; write it like sockets=2,nodes=2,llc=8,cores=8,smt=2", item, why);
}

static int parse_list(const char *text, struct rs_cpuset *ret)
{
	char buf[256];

	if (strlen(text) >= sizeof(buf))
		return -EINVAL;
	for (size_t i = 0;; i++) {
		buf[i] = text[i] == '+' ? ',' : text[i];
		if (!text[i])
			break;
	}
	return rs_cpulist_parse(buf, ret);
}

static int parse_item(struct shape *shape, char *item, struct resched_error *err)
{
	char *value = strchr(item, '='), *end;
	unsigned long n;

	if (!value)
		return bad_spec(err, item, "has no '='");
	*value++ = '\0';
	if (!strcmp(item, "numbering")) {
		shape->adjacent = !strcmp(value, "adjacent");
		return shape->adjacent || !strcmp(value, "split") ? 0 : bad_spec(err, value, "numbering is split or adjacent");
	}
	if (!strcmp(item, "isolated") || !strcmp(item, "offline")) {
		struct rs_cpuset *set = item[0] == 'i' ? &shape->isolated : &shape->offline;

		return parse_list(value, set) < 0 ? bad_spec(err, value, "is no cpu list (join its parts by +)") : 0;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(item, numbers[i].name))
			continue;
		errno = 0;
		n = strtoul(value, &end, 10);
		if (!isdigit((unsigned char)value[0]) || *end || errno || n < numbers[i].least || n > numbers[i].greatest)
			return bad_spec(err, item, "is out of range");
		*(unsigned int *)((char *)shape + numbers[i].at) = (unsigned int)n;
		return 0;
	}
	return bad_spec(err, item, "is no part of a machine");
}

static int parse_shape(const char *text, struct shape *ret, struct resched_error *err)
{
	struct shape shape = { .sockets = 1, .nodes = 1, .llc = 1, .cores = 1, .smt = 1, .ecluster = 4, .capacity = 1024,
			       .ecapacity = 1024, .near = 12, .far = 20, .reclaim = 30 };
	char *copy = strdup(text), *at = copy, *item;
	unsigned long long nr;
	int rc = 0;

	if (!copy)
		return rs_error_nomem(err);
	while (rc == 0 && (item = strsep(&at, ",")))
		rc = parse_item(&shape, item, err);
	free(copy);
	if (rc < 0)
		return rc;
	if (shape.nodes % shape.sockets && shape.sockets % shape.nodes)
		return bad_spec(err, text, "nodes and sockets do not divide");
	nr = (unsigned long long)(shape.nodes > shape.sockets ? shape.nodes : shape.sockets) * shape.llc *
	     ((unsigned long long)shape.cores * shape.smt + shape.ecores);
	if (!nr || nr > RS_MAX_CPUS)
		return bad_spec(err, text, nr ? "has too many cpus" : "has no cpus");
	*ret = shape;
	return 0;
}

/* Where the building has got to. */
struct builder {
	struct resched_host *host;
	const struct shape *shape;
	unsigned int nr_cores;		/* so far */
	unsigned int nr_first, nr_threaded;	/* first threads; cores with threads */
};

static void put_cpu(const struct builder *b, unsigned int cpu, const struct resched_host_cpu *proto)
{
	struct resched_host_cpu *c = &b->host->cpus[cpu];

	*c = *proto;
	c->cpu = cpu;
	c->online = !rs_cpuset_has(&b->shape->offline, cpu);
	c->isolated = rs_cpuset_has(&b->shape->isolated, cpu);
}

/* Cpus of one LLC; ids of groups are running numbers. Split numbering counts first threads, then all second ones. */
static void put_llc(struct builder *b, unsigned int llc, unsigned int node, unsigned int socket)
{
	const struct shape *s = b->shape;
	unsigned int width = s->adjacent ? s->smt : 1;

	for (unsigned int i = 0; i < s->cores + s->ecores; i++) {
		bool small = i >= s->cores;
		unsigned int core = b->nr_cores++, in = small ? i - s->cores : i, first;
		unsigned int cluster = small ? s->ecluster : s->cluster;
		struct resched_host_cpu proto = {
			.core = (int)core, .llc = (int)llc, .die = (int)socket, .package = (int)socket, .node = (int)node,
			.capacity = (int)(small ? s->ecapacity : s->capacity), .cluster = -1,
		};

		if (cluster)
			proto.cluster = (int)(core - in % cluster);
		/* Cores with threads come first in an LLC; adjacent numbering counts threads, split numbering adds them at the end. */
		first = llc * (s->cores * width + s->ecores) + (small ? s->cores * width + in : in * width);
		for (unsigned int t = 0; t < (small ? 1 : s->smt); t++)
			put_cpu(b, s->adjacent || !t ? first + t : b->nr_first + (t - 1) * b->nr_threaded + llc * s->cores + in, &proto);
	}
}

static int put_nodes(struct resched_host *host, const struct shape *s)
{
	unsigned int per_socket = s->nodes > s->sockets ? s->nodes / s->sockets : 1;

	host->nodes = calloc(s->nodes, sizeof(*host->nodes));
	if (!host->nodes)
		return -ENOMEM;
	host->nr_nodes = s->nodes;
	for (unsigned int i = 0; i < s->nodes; i++) {
		struct resched_host_node *node = &host->nodes[i];

		node->node = (int)i;
		node->distances = calloc(s->nodes, sizeof(int));
		if (!node->distances)
			return -ENOMEM;
		node->nr_distances = s->nodes;
		for (unsigned int j = 0; j < s->nodes; j++)
			node->distances[j] = i == j ? 10 : (int)(i / per_socket == j / per_socket ? s->near : s->far);
	}
	return 0;
}

static int put_reclaim(struct resched_host *host, unsigned int distance)
{
	char text[16];

	host->tunables = calloc(1, sizeof(*host->tunables));
	if (!host->tunables)
		return -ENOMEM;
	host->nr_tunables = 1;
	snprintf(text, sizeof(text), "%u", distance);
	host->tunables[0].name = strdup("reclaim_distance");
	host->tunables[0].value = strdup(text);
	return host->tunables[0].name && host->tunables[0].value ? 0 : -ENOMEM;
}

static int of_text(const char *text, struct resched_host **ret, struct resched_error *err)
{
	struct builder b = { 0 };
	struct resched_host *host;
	struct shape s = { 0 };
	unsigned int blocks, nr_llc;
	int rc = parse_shape(text, &s, err);

	if (rc < 0)
		return rc;
	blocks = s.nodes > s.sockets ? s.nodes : s.sockets;
	nr_llc = blocks * s.llc;
	host = calloc(1, sizeof(*host));
	if (!host)
		return rs_error_nomem(err);
	host->autogroup = -1;
	host->nr_cpus = nr_llc * (s.cores * s.smt + s.ecores);
	host->cpus = calloc(host->nr_cpus, sizeof(*host->cpus));
	host->machine = strdup("x86_64");
	if (!host->cpus || !host->machine || put_nodes(host, &s) < 0 || put_reclaim(host, s.reclaim) < 0) {
		resched_host_free(host);
		return rs_error_nomem(err);
	}
	b.host = host;
	b.shape = &s;
	b.nr_first = nr_llc * (s.cores + s.ecores);
	b.nr_threaded = nr_llc * s.cores;
	for (unsigned int llc = 0; llc < nr_llc; llc++) {
		unsigned int block = llc / s.llc;

		put_llc(&b, llc, block * s.nodes / blocks, block * s.sockets / blocks);
	}
	*ret = host;
	return 0;
}

/* ---- files ---- */

/* First character that is no blank; EOF. */
static int first_of_file(const char *path)
{
	FILE *in = fopen(path, "re");
	int c = in ? fgetc(in) : EOF;

	while (c == ' ' || c == '\n' || c == '\t' || c == '\r')
		c = fgetc(in);
	if (in)
		fclose(in);
	return c;
}

static int of_file(const char *path, struct resched_host **ret, struct resched_error *err)
{
	struct resched_trace *trace = NULL;
	int rc, first = first_of_file(path);

	if (first == '{')
		return resched_host_load(path, ret, err);
	if (first == '<')
		return resched_host_hwloc(path, ret, err);
	rc = resched_trace_open(path, &trace, err);
	if (rc < 0)
		return rc;
	if (resched_trace_host(trace) && resched_trace_host(trace)->nr_cpus)
		rc = resched_host_copy(resched_trace_host(trace), ret, err);
	else
		rc = rs_error_set(err, RESCHED_FAILED, -ENODATA, "%s has no host snapshot, so its machine is not known", path);
	resched_trace_free(trace);
	return rc;
}

int resched_topology_load(const char *what, struct resched_host **ret, struct resched_error *err)
{
	int rc;

	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (!strcmp(what, presets[i].name))
			return of_text(presets[i].spec, ret, err);
	}
	if (strchr(what, '=') && !strchr(what, '/'))
		return of_text(what, ret, err);
	rc = of_file(what, ret, err);
	if (rc == -ENOENT)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "'%.80s' is neither a file, nor a preset (see 'resched topology --list'), "
				    "nor a machine like sockets=2,nodes=2,llc=8,cores=8,smt=2", what);
	return rc;
}
