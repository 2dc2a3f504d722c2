// SPDX-License-Identifier: GPL-2.0-only
#include "replay/domains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BASIC_FLAGS (RESCHED_SD_BALANCE_NEWIDLE | RESCHED_SD_BALANCE_EXEC | RESCHED_SD_BALANCE_FORK | RESCHED_SD_WAKE_AFFINE | \
		     RESCHED_SD_PREFER_SIBLING)
#define NEEDS_NO_GROUPS RESCHED_SD_WAKE_AFFINE
#define CHUNK_BYTES 65536u

/* ---- memory: everything lives as long as the domains ---- */

struct rs_chunk { struct rs_chunk *next; size_t used, size; _Alignas(16) char bytes[]; };

static void *grab(struct resched_domains *d, size_t size)
{
	struct rs_chunk *c = d->chunks;

	size = (size + 15) & ~(size_t)15;
	if (!c || c->size - c->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		c = calloc(1, sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		c->next = d->chunks;
		d->chunks = c;
	}
	c->used += size;
	return c->bytes + c->used - size;
}

/* ---- sets ---- */

static void set_add(uint64_t *set, unsigned int cpu)
{
	set[cpu / 64] |= 1ull << (cpu % 64);
}

static bool set_has(const uint64_t *set, unsigned int cpu)
{
	return (set[cpu / 64] >> (cpu % 64)) & 1;
}

static bool set_equal(const struct resched_domains *d, const uint64_t *a, const uint64_t *b)
{
	return !memcmp(a, b, d->nr_words * sizeof(*a));
}

static bool set_within(const struct resched_domains *d, const uint64_t *inner, const uint64_t *outer)
{
	for (unsigned int i = 0; i < d->nr_words; i++) {
		if (inner[i] & ~outer[i])
			return false;
	}
	return true;
}

static unsigned int set_count(const struct resched_domains *d, const uint64_t *set)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < d->nr_words; i++)
		n += (unsigned int)__builtin_popcountll(set[i]);
	return n;
}

static unsigned int set_first(const struct resched_domains *d, const uint64_t *set)
{
	for (unsigned int i = 0; i < d->nr_words; i++) {
		if (set[i])
			return i * 64 + (unsigned int)__builtin_ctzll(set[i]);
	}
	return d->nr_cpus;
}

static int make_span(struct resched_domains *d, const uint64_t *set, struct rs_span *ret)
{
	ret->nr = set_count(d, set);
	ret->bits = grab(d, d->nr_words * sizeof(*ret->bits));
	ret->cpus = grab(d, (ret->nr ? ret->nr : 1) * sizeof(*ret->cpus));
	if (!ret->bits || !ret->cpus)
		return -ENOMEM;
	memcpy(ret->bits, set, d->nr_words * sizeof(*set));
	for (unsigned int cpu = 0, n = 0; cpu < d->nr_cpus; cpu++) {
		if (set_has(set, cpu))
			ret->cpus[n++] = cpu;
	}
	return 0;
}

/* ---- the chain before anything is removed ---- */

struct proto {
	const char *name;
	unsigned int flags, level_weight, imb_numa_nr;
	int distance;
	const uint64_t *set;
};

struct raw_chain { struct proto levels[RS_MAX_LEVELS]; unsigned int nr; };

/* While building. */
struct build {
	struct resched_domains *d;
	const struct resched_host *host;
	const struct resched_host_cpu **cpus;	/* by number; NULL: not there */
	struct raw_chain *raw;			/* by cpu */
	int reclaim;
	int distances[RS_MAX_LEVELS];		/* distinct, ascending */
	unsigned int nr_distances;
	bool numa_in_package, hybrid;
	uint64_t **core, **cluster, **llc, **node;	/* by cpu: sets */
	uint64_t ***near;			/* by distance, by node index: sets */
};

static int distance_between(const struct build *b, int a, int c)
{
	if (a == c)
		return 10;
	if (a >= 0 && c >= 0 && (unsigned int)a < b->host->nr_nodes && (unsigned int)c < b->host->nodes[a].nr_distances)
		return b->host->nodes[a].distances[c];
	return 20;
}

static int node_index(const struct resched_host *host, int node)
{
	for (unsigned int i = 0; i < host->nr_nodes; i++) {
		if (host->nodes[i].node == node)
			return (int)i;
	}
	return -1;
}

static bool same_core(const struct resched_host_cpu *a, const struct resched_host_cpu *b)
{
	return a == b || (a->core >= 0 && a->core == b->core && a->package == b->package && a->node == b->node);
}

static bool same_llc(const struct build *b, const struct resched_host_cpu *x, const struct resched_host_cpu *y)
{
	if (same_core(x, y))
		return true;
	/* Sub-NUMA clustering: the cache is cut at the node. */
	return x->llc >= 0 && x->llc == y->llc && b->d->node_of[x->cpu] == b->d->node_of[y->cpu];
}

static bool same_cluster(const struct resched_host_cpu *a, const struct resched_host_cpu *b)
{
	return same_core(a, b) || (a->cluster >= 0 && a->cluster == b->cluster && a->package == b->package);
}

typedef bool (*share_fn)(const struct build *b, const struct resched_host_cpu *x, const struct resched_host_cpu *y);

static bool share_core(const struct build *b, const struct resched_host_cpu *x, const struct resched_host_cpu *y)
{
	(void)b;
	return same_core(x, y);
}

static bool share_cluster(const struct build *b, const struct resched_host_cpu *x, const struct resched_host_cpu *y)
{
	(void)b;
	return same_cluster(x, y);
}

static bool share_node(const struct build *b, const struct resched_host_cpu *x, const struct resched_host_cpu *y)
{
	return b->d->node_of[x->cpu] == b->d->node_of[y->cpu];
}

/* Sets of cpus that share something; cpus of one set point to one array. */
static uint64_t **sets_of(struct build *b, share_fn share)
{
	struct resched_domains *d = b->d;
	uint64_t **sets = grab(d, d->nr_cpus * sizeof(*sets));

	if (!sets)
		return NULL;
	for (unsigned int i = 0; i < d->active.nr; i++) {
		unsigned int cpu = d->active.cpus[i];

		if (sets[cpu])
			continue;
		sets[cpu] = grab(d, d->nr_words * sizeof(**sets));
		if (!sets[cpu])
			return NULL;
		for (unsigned int j = i; j < d->active.nr; j++) {
			unsigned int other = d->active.cpus[j];

			if (share(b, b->cpus[cpu], b->cpus[other])) {
				set_add(sets[cpu], other);
				sets[other] = sets[cpu];
			}
		}
	}
	return sets;
}

static unsigned int nr_nodes(const struct build *b)
{
	return b->host->nr_nodes ? b->host->nr_nodes : 1;
}

static void note_distance(struct build *b, int distance)
{
	unsigned int at = 0;

	while (at < b->nr_distances && b->distances[at] < distance)
		at++;
	if ((at < b->nr_distances && b->distances[at] == distance) || b->nr_distances == RS_MAX_LEVELS - 6)
		return;
	memmove(&b->distances[at + 1], &b->distances[at], (b->nr_distances - at) * sizeof(int));
	b->distances[at] = distance;
	b->nr_distances++;
}

/* For each distance and node: cpus of the nodes that near. */
static int near_sets(struct build *b)
{
	struct resched_domains *d = b->d;
	unsigned int n = nr_nodes(b);

	note_distance(b, 10);
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = 0; j < n; j++)
			note_distance(b, distance_between(b, (int)i, (int)j));
	}
	b->near = grab(d, b->nr_distances * sizeof(*b->near));
	if (!b->near)
		return -ENOMEM;
	for (unsigned int k = 0; k < b->nr_distances; k++) {
		b->near[k] = grab(d, n * sizeof(**b->near));
		if (!b->near[k])
			return -ENOMEM;
		for (unsigned int i = 0; i < n; i++) {
			b->near[k][i] = grab(d, d->nr_words * sizeof(uint64_t));
			if (!b->near[k][i])
				return -ENOMEM;
			for (unsigned int j = 0; j < d->active.nr; j++) {
				unsigned int cpu = d->active.cpus[j];

				if (distance_between(b, (int)i, d->node_of[cpu]) <= b->distances[k])
					set_add(b->near[k][i], cpu);
			}
		}
	}
	return 0;
}

/* Asymmetric capacities within @set: Kernel: asym_cpu_capacity_classify(). */
static unsigned int asym_flags(const struct build *b, const uint64_t *set)
{
	const struct resched_domains *d = b->d;
	unsigned int here = 0, all = 0;

	if (!d->asym)
		return 0;
	for (unsigned int i = 0; i < d->active.nr; i++) {
		unsigned int cpu = d->active.cpus[i];
		bool fresh = true, fresh_here = true;

		for (unsigned int j = 0; j < i; j++) {
			if (d->capacity[d->active.cpus[j]] != d->capacity[cpu])
				continue;
			fresh = false;
			fresh_here &= !set_has(set, d->active.cpus[j]);
		}
		all += fresh;
		here += fresh_here && set_has(set, cpu);
	}
	if (here < 2)
		return 0;
	return here == all ? RESCHED_SD_ASYM_CPUCAPACITY | RESCHED_SD_ASYM_CPUCAPACITY_FULL : RESCHED_SD_ASYM_CPUCAPACITY;
}

/* Isolated cpus that share @cpu's level without being in its domain: they count in its weight. @within: distance of nodes, without @share. */
static unsigned int nr_isolated(const struct build *b, unsigned int cpu, share_fn share, int within)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < b->host->nr_cpus; i++) {
		const struct resched_host_cpu *c = &b->host->cpus[i];

		if (!c->online || !c->isolated || c->cpu >= b->d->nr_cpus)
			continue;
		nr += share ? share(b, b->cpus[cpu], c) : distance_between(b, b->d->node_of[cpu], b->d->node_of[c->cpu]) <= within;
	}
	return nr;
}

/* Where a level comes from. */
struct source {
	const char *name;
	const uint64_t *set;
	share_fn share;
	unsigned int flags;
	int distance, within;
};

/* Return: whether the set is everything, so that no level follows. Kernel: sd_init(). */
static bool push_level(struct build *b, unsigned int cpu, struct source from)
{
	struct raw_chain *chain = &b->raw[cpu];
	struct proto *p = &chain->levels[chain->nr];
	unsigned int numa_off = RESCHED_SD_BALANCE_EXEC | RESCHED_SD_BALANCE_FORK | RESCHED_SD_WAKE_AFFINE;
	const uint64_t *set = from.set;
	unsigned int flags = from.flags;
	int distance = from.distance;

	*p = (struct proto){ .name = from.name, .set = set, .distance = distance, .flags = BASIC_FLAGS | flags | asym_flags(b, set) };
	p->level_weight = set_count(b->d, set) + nr_isolated(b, cpu, from.share, from.within);
	if (flags & RESCHED_SD_NUMA) {
		p->flags = (p->flags & ~RESCHED_SD_PREFER_SIBLING) | RESCHED_SD_SERIALIZE | RESCHED_SD_OVERLAP;
		if (distance > b->reclaim)
			p->flags &= ~numa_off;
	}
	if ((p->flags & RESCHED_SD_ASYM_CPUCAPACITY) && chain->nr)
		chain->levels[chain->nr - 1].flags &= ~RESCHED_SD_PREFER_SIBLING;
	chain->nr++;
	return set_equal(b->d, set, b->d->active.bits);
}

static void raw_levels(struct build *b, unsigned int cpu)
{
	struct resched_domains *d = b->d;
	unsigned int node = d->node_of[cpu] < 0 ? 0 : (unsigned int)d->node_of[cpu];
	unsigned int cluster = RESCHED_SD_LLC | (d->is_612 ? RESCHED_SD_CLUSTER : 0);

	if (push_level(b, cpu, (struct source){ "SMT", b->core[cpu], share_core, RESCHED_SD_SHARE_CPUCAPACITY | RESCHED_SD_LLC, 0, 0 }))
		return;
	if ((d->is_612 || !b->hybrid) && push_level(b, cpu, (struct source){ "CLS", b->cluster[cpu], share_cluster, cluster, 0, 0 }))
		return;
	if (push_level(b, cpu, (struct source){ "MC", b->llc[cpu], same_llc, RESCHED_SD_LLC, 0, 0 }))
		return;
	if (!b->numa_in_package && push_level(b, cpu, (struct source){ d->is_612 ? "PKG" : "DIE", b->node[cpu], share_node, 0, 0, 0 }))
		return;
	for (unsigned int k = 0; k < b->nr_distances; k++) {
		struct source from = { k ? "NUMA" : "NODE", b->near[k][node], NULL, k ? RESCHED_SD_NUMA : 0, k ? b->distances[k] : 0, b->distances[k] };

		if (push_level(b, cpu, from))
			return;
	}
}

/* Kernel: the loop over imb_numa_nr in build_sched_domains(). */
static void count_imbalance(struct raw_chain *chain)
{
	unsigned int imb = 0, span = 1;

	for (unsigned int i = 0; i < chain->nr; i++) {
		struct proto *p = &chain->levels[i];

		if (!(p->flags & RESCHED_SD_LLC) && i && (chain->levels[i - 1].flags & RESCHED_SD_LLC)) {
			unsigned int n = p->level_weight / chain->levels[i - 1].level_weight, top = i + 1;

			imb = n > 1 ? n : p->level_weight / 8;
			imb = imb ? imb : 1;
			p->imb_numa_nr = imb;
			while (top < chain->nr && !(chain->levels[top].flags & RESCHED_SD_NUMA))
				top++;
			span = top < chain->nr ? chain->levels[top].level_weight : p->level_weight;
		} else {
			p->imb_numa_nr = imb * (p->level_weight / span ? p->level_weight / span : 1);
		}
	}
}

/* ---- groups ---- */

/* What group of @level does @cpu stand for: the span of its level below, gone down until it fits. NULL = the cpu alone. */
static const struct proto *child_of(const struct build *b, unsigned int cpu, unsigned int level, const uint64_t *within)
{
	const struct raw_chain *chain = &b->raw[cpu];

	if (level > chain->nr)
		level = chain->nr;
	while (level > 0 && !set_within(b->d, chain->levels[level - 1].set, within))
		level--;
	return level ? &chain->levels[level - 1] : NULL;
}

/* Level of the raw chain of @cpu with the same table entry as @proto; chains of one machine have one table. */
static unsigned int raw_level(const struct build *b, unsigned int cpu, const struct proto *proto)
{
	const struct raw_chain *chain = &b->raw[cpu];
	unsigned int i = 0;

	while (i < chain->nr && (strcmp(chain->levels[i].name, proto->name) != 0 || chain->levels[i].distance != proto->distance))
		i++;
	return i;
}

static unsigned int count_cores(const struct build *b, const uint64_t *set)
{
	unsigned int n = 0;

	for (unsigned int cpu = 0; cpu < b->d->nr_cpus; cpu++)
		n += set_has(set, cpu) && set_first(b->d, b->core[cpu]) == cpu;
	return n ? n : 1;
}

/* Cpus of an overlapping group that stand for just this group. Kernel: build_balance_mask(). */
static int balance_span(struct build *b, const struct proto *proto, const uint64_t *group, struct rs_span *ret)
{
	struct resched_domains *d = b->d;
	uint64_t *set = grab(d, d->nr_words * sizeof(*set));

	if (!set)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < d->nr_cpus; cpu++) {
		const struct proto *child;

		if (!set_has(group, cpu))
			continue;
		child = child_of(b, cpu, raw_level(b, cpu, proto), proto->set);
		if (child && set_equal(d, child->set, group))
			set_add(set, cpu);
	}
	return make_span(d, set_count(d, set) ? set : group, ret);
}

static int add_group(struct build *b, const struct proto *proto, unsigned int cpu, struct rs_group_shape *ret, uint64_t *covered)
{
	struct resched_domains *d = b->d;
	const struct proto *child = child_of(b, cpu, raw_level(b, cpu, proto), proto->set);
	uint64_t *alone = NULL;
	const uint64_t *set;
	int rc;

	if (!child) {
		alone = grab(d, d->nr_words * sizeof(*alone));
		if (!alone)
			return -ENOMEM;
		set_add(alone, cpu);
	}
	set = child ? child->set : alone;
	ret->flags = child ? child->flags : 0;
	ret->cores = count_cores(b, set);
	for (unsigned int i = 0; i < d->nr_words; i++)
		covered[i] |= set[i];
	rc = make_span(d, set, &ret->span);
	if (rc < 0)
		return rc;
	if (!(proto->flags & RESCHED_SD_OVERLAP)) {
		ret->balance = ret->span;
		return 0;
	}
	return balance_span(b, proto, set, &ret->balance);
}

static int make_groups(struct build *b, const struct proto *proto, unsigned int from, struct rs_domain_shape *shape)
{
	struct resched_domains *d = b->d;
	uint64_t *covered = grab(d, d->nr_words * sizeof(*covered));

	shape->groups = grab(d, shape->span.nr * sizeof(*shape->groups));
	if (!covered || !shape->groups)
		return -ENOMEM;
	for (unsigned int i = 0; i < d->nr_cpus; i++) {
		unsigned int cpu = (from + i) % d->nr_cpus;

		if (!set_has(proto->set, cpu) || set_has(covered, cpu))
			continue;
		if (add_group(b, proto, cpu, &shape->groups[shape->info.nr_groups], covered) < 0)
			return -ENOMEM;
		shape->info.nr_groups++;
	}
	shape->first_group = d->nr_groups;
	d->nr_groups += shape->info.nr_groups;
	return 0;
}

/* ---- removing what is redundant ---- */

static bool one_group(const struct build *b, unsigned int cpu, const struct proto *p)
{
	const struct proto *child = child_of(b, cpu, raw_level(b, cpu, p), p->set);

	return child ? set_equal(b->d, child->set, p->set) : set_count(b->d, p->set) == 1;
}

/* Kernel: sd_degenerate() */
static bool is_degenerate(const struct build *b, unsigned int cpu, const struct proto *p)
{
	if (set_count(b->d, p->set) == 1)
		return true;
	return one_group(b, cpu, p) && !(p->flags & RESCHED_SD_WAKE_AFFINE);
}

/* Kernel: sd_parent_degenerate() */
static bool is_parent_degenerate(const struct build *b, unsigned int cpu, const struct proto *below, const struct proto *p)
{
	unsigned int flags = p->flags;

	if (is_degenerate(b, cpu, p))
		return true;
	if (!set_equal(b->d, below->set, p->set))
		return false;
	if (one_group(b, cpu, p))
		flags &= NEEDS_NO_GROUPS;
	return !(flags & ~below->flags);
}

/* Kernel: cpu_attach_domain(). @ret: levels that stay, their flags as they end. */
static void prune(const struct build *b, unsigned int cpu, struct raw_chain *ret)
{
	const struct raw_chain *raw = &b->raw[cpu];

	ret->nr = 0;
	for (unsigned int i = 0; i < raw->nr; i++) {
		struct proto *below = ret->nr ? &ret->levels[ret->nr - 1] : NULL;

		if (below && is_parent_degenerate(b, cpu, below, &raw->levels[i]))
			below->flags |= raw->levels[i].flags & RESCHED_SD_PREFER_SIBLING;
		else
			ret->levels[ret->nr++] = raw->levels[i];
	}
	if (ret->nr && is_degenerate(b, cpu, &ret->levels[0])) {
		memmove(&ret->levels[0], &ret->levels[1], (ret->nr - 1) * sizeof(ret->levels[0]));
		ret->nr--;
	}
}

/* ---- shapes ---- */

static bool same_groups(const struct resched_domains *d, const struct rs_domain_shape *a, const struct rs_domain_shape *b)
{
	for (unsigned int i = 0; i < a->info.nr_groups; i++) {
		unsigned int j = 0;

		while (j < b->info.nr_groups && !set_equal(d, a->groups[i].span.bits, b->groups[j].span.bits))
			j++;
		if (j == b->info.nr_groups)
			return false;
	}
	return a->info.nr_groups == b->info.nr_groups;
}

static void set_parameters(struct rs_domain_shape *shape, const struct proto *p)
{
	struct resched_domain *info = &shape->info;

	info->name = p->name;
	info->flags = p->flags;
	info->weight = shape->span.nr;
	info->min_interval_ms = p->level_weight;
	info->max_interval_ms = 2 * p->level_weight;
	info->imb_numa_nr = p->imb_numa_nr;
	info->imbalance_pct = p->flags & RESCHED_SD_SHARE_CPUCAPACITY ? 110 : 117;
	info->cache_nice_tries = p->flags & RESCHED_SD_SHARE_CPUCAPACITY ? 0 :
				 p->flags & RESCHED_SD_LLC ? 1 : p->flags & RESCHED_SD_NUMA ? 2 : 1;
	shape->distance = p->distance;
}

static struct rs_domain_shape *new_shape(struct build *b, const struct proto *p, unsigned int cpu)
{
	struct resched_domains *d = b->d;
	struct rs_domain_shape *shape;

	if (d->nr_shapes == d->room_shapes) {
		unsigned int room = d->room_shapes ? 2 * d->room_shapes : 64;
		struct rs_domain_shape **more = realloc(d->shapes, room * sizeof(*more));

		if (!more)
			return NULL;
		d->shapes = more;
		d->room_shapes = room;
	}
	shape = grab(d, sizeof(*shape));
	if (!shape || make_span(d, p->set, &shape->span) < 0 || make_groups(b, p, cpu, shape) < 0)
		return NULL;
	set_parameters(shape, p);
	shape->id = d->nr_shapes;
	d->shapes[d->nr_shapes++] = shape;
	return shape;
}

static unsigned int local_group(const struct rs_domain_shape *shape, const struct resched_domains *d, unsigned int cpu,
				const struct proto *child)
{
	for (unsigned int i = 0; i < shape->info.nr_groups; i++) {
		const struct rs_span *span = &shape->groups[i].span;

		if (child ? set_equal(d, span->bits, child->set) : span->nr == 1 && span->cpus[0] == cpu)
			return i;
	}
	return 0;
}

/* The shape of @p for @cpu: that of an earlier cpu of the span when it sees the same. */
static int find_shape(struct build *b, const struct proto *p, unsigned int cpu, struct rs_domain *ret)
{
	struct resched_domains *d = b->d;
	const struct proto *child = child_of(b, cpu, raw_level(b, cpu, p), p->set);
	const struct rs_domain_shape *found = NULL;
	unsigned int nr_overlap = 0;

	for (unsigned int cpu2 = set_first(d, p->set); cpu2 < cpu && !found; cpu2++) {
		const struct rs_domain_chain *chain = &d->chains[cpu2];

		if (!set_has(p->set, cpu2))
			continue;
		for (unsigned int i = 0; i < chain->nr && !found; i++) {
			const struct rs_domain_shape *s = chain->levels[i].shape;

			if (s->info.flags != p->flags || strcmp(s->info.name, p->name) != 0 || s->info.imb_numa_nr != p->imb_numa_nr ||
			    !set_equal(d, s->span.bits, p->set))
				continue;
			/* Overlapping groups of another node may differ. */
			if (p->flags & RESCHED_SD_OVERLAP && b->d->node_of[cpu2] != b->d->node_of[cpu])
				continue;
			found = s;
		}
		if (!(p->flags & RESCHED_SD_OVERLAP) && ++nr_overlap > 64)
			break;	/* same flags and span: the first cpus of the span would have had it */
	}
	if (!found) {
		struct rs_domain_shape *shape = new_shape(b, p, cpu);

		if (!shape)
			return -ENOMEM;
		for (unsigned int i = 0; p->flags & RESCHED_SD_OVERLAP && i + 1 < d->nr_shapes && !found; i++) {
			const struct rs_domain_shape *s = d->shapes[i];

			if (s->info.flags == p->flags && s->info.imb_numa_nr == p->imb_numa_nr && s->distance == p->distance &&
			    set_equal(d, s->span.bits, p->set) && same_groups(d, s, shape))
				found = s;
		}
		if (found) {
			d->nr_shapes--;
			d->nr_groups -= shape->info.nr_groups;
		} else {
			found = shape;
		}
	}
	ret->shape = found;
	ret->local = local_group(found, d, cpu, child);
	return 0;
}

static int attach(struct build *b, unsigned int cpu)
{
	struct rs_domain_chain *chain = &b->d->chains[cpu];
	struct raw_chain pruned;

	prune(b, cpu, &pruned);
	for (unsigned int i = 0; i < pruned.nr; i++) {
		if (find_shape(b, &pruned.levels[i], cpu, &chain->levels[i]) < 0)
			return -ENOMEM;
		chain->nr = i + 1;
	}
	return 0;
}

/* The kernel keeps these in per-cpu pointers: update_top_cache_domain(). */
static void cache_levels(struct resched_domains *d, unsigned int cpu)
{
	struct rs_domain_chain *chain = &d->chains[cpu];

	chain->llc = chain->numa = chain->cluster = chain->asym = chain->asym_packing = -1;
	d->llc_of[cpu] = cpu;
	for (int i = (int)chain->nr - 1; i >= 0; i--) {
		unsigned int flags = chain->levels[i].shape->info.flags;

		if (flags & RESCHED_SD_LLC && chain->llc < 0)
			chain->llc = i;
		if (flags & RESCHED_SD_ASYM_PACKING && chain->asym_packing < 0)
			chain->asym_packing = i;
		if (flags & RESCHED_SD_NUMA)
			chain->numa = i;
		if (flags & RESCHED_SD_CLUSTER)
			chain->cluster = i;
		if (flags & RESCHED_SD_ASYM_CPUCAPACITY_FULL)
			chain->asym = i;
	}
	if (chain->llc >= 0)
		d->llc_of[cpu] = chain->levels[chain->llc].shape->span.cpus[0];
	d->share_of[cpu] = chain->cluster >= 0 ? chain->levels[chain->cluster].shape->span.cpus[0] : d->llc_of[cpu];
	d->cluster_active |= chain->cluster >= 0;
}

/* 6.12 mends the flags of groups when a level below is removed: they are those of the level that is left. */
static void mend_group_flags(struct resched_domains *d)
{
	for (unsigned int s = 0; s < d->nr_shapes; s++) {
		for (unsigned int g = 0; g < d->shapes[s]->info.nr_groups; g++) {
			struct rs_group_shape *group = &d->shapes[s]->groups[g];
			const struct rs_domain_chain *chain = &d->chains[group->span.cpus[0]];

			group->flags = 0;
			for (unsigned int i = 0; i < chain->nr; i++) {
				if (set_equal(d, chain->levels[i].shape->span.bits, group->span.bits))
					group->flags = chain->levels[i].shape->info.flags;
			}
		}
	}
}

/* ---- the machine ---- */

static bool is_612(const char *kernel)
{
	int major = 6, minor = 12;

	if (kernel && sscanf(kernel, "%d.%d", &major, &minor) < 1)
		major = 6;
	return major > 6 || (major == 6 && minor >= 6);
}

static int list_cpus(struct build *b)
{
	struct resched_domains *d = b->d;
	uint64_t *active = grab(d, d->nr_words * sizeof(*active));

	d->llc_of = grab(d, d->nr_cpus * sizeof(*d->llc_of));
	d->share_of = grab(d, d->nr_cpus * sizeof(*d->share_of));
	d->node_of = grab(d, d->nr_cpus * sizeof(*d->node_of));
	d->capacity = grab(d, d->nr_cpus * sizeof(*d->capacity));
	d->smt = grab(d, d->nr_cpus * sizeof(*d->smt));
	if (!active || !d->llc_of || !d->share_of || !d->node_of || !d->capacity || !d->smt)
		return -ENOMEM;
	for (unsigned int i = 0; i < b->host->nr_cpus; i++) {
		const struct resched_host_cpu *c = &b->host->cpus[i];
		int node = node_index(b->host, c->node);

		if (c->cpu >= d->nr_cpus)
			continue;
		b->cpus[c->cpu] = c;
		d->node_of[c->cpu] = node < 0 ? 0 : node;
		d->capacity[c->cpu] = c->capacity > 0 && c->capacity <= 1024 ? (unsigned int)c->capacity : 1024;
		if (c->online && !c->isolated)
			set_add(active, c->cpu);
	}
	return make_span(d, active, &d->active);
}

static void look_at_packages(struct build *b)
{
	unsigned int wide = 0, narrow = 0;

	for (unsigned int i = 0; i < b->d->active.nr; i++) {
		unsigned int cpu = b->d->active.cpus[i], first = b->d->active.cpus[0];

		b->d->asym |= b->d->capacity[cpu] != b->d->capacity[first];
		wide += set_count(b->d, b->core[cpu]) > 1;
		narrow += set_count(b->d, b->core[cpu]) == 1;
		for (unsigned int j = 0; j < i && !b->numa_in_package; j++) {
			unsigned int other = b->d->active.cpus[j];

			b->numa_in_package = b->cpus[cpu]->package >= 0 && b->cpus[cpu]->package == b->cpus[other]->package &&
					     b->d->node_of[cpu] != b->d->node_of[other];
		}
	}
	b->d->has_smt = wide != 0;
	b->hybrid = wide && narrow;
}

static int build_all(struct build *b)
{
	struct resched_domains *d = b->d;

	if (list_cpus(b) < 0)
		return -ENOMEM;
	b->core = sets_of(b, share_core);
	b->cluster = sets_of(b, share_cluster);
	b->llc = sets_of(b, same_llc);
	b->node = sets_of(b, share_node);
	if (!b->core || !b->cluster || !b->llc || !b->node || near_sets(b) < 0)
		return -ENOMEM;
	look_at_packages(b);
	for (unsigned int i = 0; i < d->active.nr; i++) {
		raw_levels(b, d->active.cpus[i]);
		count_imbalance(&b->raw[d->active.cpus[i]]);
	}
	for (unsigned int i = 0; i < d->active.nr; i++) {
		unsigned int cpu = d->active.cpus[i];

		if (attach(b, cpu) < 0 || make_span(d, b->core[cpu], &d->smt[cpu]) < 0)
			return -ENOMEM;
	}
	for (unsigned int cpu = 0; cpu < d->nr_cpus; cpu++) {
		uint64_t *alone;

		cache_levels(d, cpu);
		if (d->smt[cpu].nr)
			continue;
		alone = grab(d, d->nr_words * sizeof(*alone));
		if (!alone)
			return -ENOMEM;
		set_add(alone, cpu);
		if (make_span(d, alone, &d->smt[cpu]) < 0)
			return -ENOMEM;
	}
	if (d->is_612)
		mend_group_flags(d);
	return 0;
}

int resched_domains_build(const struct resched_host *host, const char *kernel, struct resched_domains **ret, struct resched_error *err)
{
	const char *reclaim = resched_host_tunable(host, "reclaim_distance");
	struct resched_domains *d = calloc(1, sizeof(*d));
	struct build b = { .d = d, .host = host, .reclaim = reclaim ? (int)strtol(reclaim, NULL, 10) : 30 };
	int rc = -ENOMEM;

	if (!d)
		return rs_error_nomem(err);
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (host->cpus[i].cpu < RS_MAX_CPUS && host->cpus[i].cpu >= d->nr_cpus)
			d->nr_cpus = host->cpus[i].cpu + 1;
	}
	d->nr_words = d->nr_cpus / 64 + 1;
	d->is_612 = is_612(kernel ? kernel : host->kernel);
	d->chains = calloc(d->nr_cpus + 1u, sizeof(*d->chains));
	b.raw = calloc(d->nr_cpus + 1u, sizeof(*b.raw));
	b.cpus = calloc(d->nr_cpus + 1u, sizeof(*b.cpus));
	if (d->chains && b.raw && b.cpus)
		rc = build_all(&b);
	free(b.raw);
	free(b.cpus);
	if (rc < 0) {
		resched_domains_free(d);
		return rs_error_nomem(err);
	}
	*ret = d;
	return 0;
}

void resched_domains_free(struct resched_domains *d)
{
	if (!d)
		return;
	while (d->chunks) {
		struct rs_chunk *next = d->chunks->next;

		free(d->chunks);
		d->chunks = next;
	}
	free(d->shapes);
	free(d->chains);
	free(d);
}
