// SPDX-License-Identifier: GPL-2.0-only
/* A machine from the XML that hwloc's lstopo writes. As in every snapshot an id is the lowest cpu of its group. */
#include <resched/host.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#ifndef RESCHED_HAVE_HWLOC

int resched_host_hwloc(const char *path, struct resched_host **ret, struct resched_error *err)
{
	(void)ret;
	return rs_error_set(err, RESCHED_FAILED, -ENOSYS, "%s looks like hwloc's XML, but this resched was built without it: building it needs libhwloc-dev",
			    path);
}

#else

#include <hwloc.h>

static int first_cpu(hwloc_const_bitmap_t set)
{
	return set ? hwloc_bitmap_first(set) : -1;
}

/* The unified cache furthest from @pu. */
static hwloc_obj_t last_cache(hwloc_obj_t pu)
{
	hwloc_obj_t found = NULL;

	for (hwloc_obj_t o = pu->parent; o; o = o->parent) {
		if (hwloc_obj_type_is_dcache(o->type) && o->attr->cache.type == HWLOC_OBJ_CACHE_UNIFIED)
			found = o;
	}
	return found;
}

static int group_of(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_obj_t pu)
{
	hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(t, type, pu);

	return o ? first_cpu(o->complete_cpuset) : -1;
}

/* On x86 the cpus that share an L2 are a cluster; elsewhere hwloc has a group of that name. */
static int cluster_of(hwloc_topology_t t, hwloc_obj_t pu)
{
	hwloc_obj_t l2 = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_L2CACHE, pu);

	for (hwloc_obj_t o = pu->parent; o; o = o->parent) {
		if (o->type == HWLOC_OBJ_GROUP && o->subtype && !strcmp(o->subtype, "Cluster"))
			return first_cpu(o->complete_cpuset);
	}
	return l2 && l2->attr->cache.type == HWLOC_OBJ_CACHE_UNIFIED && l2 != last_cache(pu) ? first_cpu(l2->complete_cpuset) : -1;
}

/* What the kernel calls cpu_capacity, where hwloc has kept it. */
static int capacity_of(hwloc_topology_t t, hwloc_obj_t pu)
{
	struct hwloc_info_s *infos;
	unsigned int nr;
	int kind = hwloc_cpukinds_get_by_cpuset(t, pu->cpuset, 0), efficiency;

	if (kind < 0 || hwloc_cpukinds_get_info(t, (unsigned int)kind, NULL, &efficiency, &nr, &infos, 0) < 0)
		return 1024;
	for (unsigned int i = 0; i < nr; i++) {
		long value = strcmp(infos[i].name, "LinuxCapacity") ? 0 : strtol(infos[i].value, NULL, 10);

		if (value > 0 && value <= 1024)
			return (int)value;
	}
	return 1024;
}

static int put_cpus(hwloc_topology_t t, struct resched_host *host)
{
	hwloc_const_bitmap_t all = hwloc_topology_get_complete_cpuset(t);
	int last = hwloc_bitmap_last(all);

	if (last < 0 || last > 1 << 16)
		return -EBADMSG;
	host->cpus = calloc((size_t)last + 1, sizeof(*host->cpus));
	if (!host->cpus)
		return -ENOMEM;
	host->nr_cpus = (unsigned int)last + 1;
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		struct resched_host_cpu *c = &host->cpus[i];
		hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(t, i), cache;

		*c = (struct resched_host_cpu){ .cpu = i, .core = -1, .cluster = -1, .llc = -1, .die = -1, .package = -1, .node = -1, .capacity = 1024 };
		if (!pu)
			continue;
		cache = last_cache(pu);
		c->online = 1;
		c->core = group_of(t, HWLOC_OBJ_CORE, pu);
		c->cluster = cluster_of(t, pu);
		c->llc = cache ? first_cpu(cache->complete_cpuset) : -1;
		c->die = group_of(t, HWLOC_OBJ_DIE, pu);
		c->package = group_of(t, HWLOC_OBJ_PACKAGE, pu);
		c->capacity = capacity_of(t, pu);
	}
	return 0;
}

static int put_nodes(hwloc_topology_t t, struct resched_host *host)
{
	int nr = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
	struct hwloc_distances_s *found = NULL;
	unsigned int one = 1;

	if (nr <= 0)
		return 0;
	host->nodes = calloc((size_t)nr, sizeof(*host->nodes));
	if (!host->nodes)
		return -ENOMEM;
	if (hwloc_distances_get_by_name(t, "NUMALatency", &one, &found, 0) < 0 || !one || (found && found->nbobjs != (unsigned int)nr))
		found = NULL;
	for (int i = 0; i < nr; i++) {
		hwloc_obj_t o = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, (unsigned int)i);
		struct resched_host_node *node = &host->nodes[host->nr_nodes++];

		node->node = (int)o->os_index;
		node->distances = calloc((size_t)nr, sizeof(int));
		if (!node->distances)
			return -ENOMEM;
		node->nr_distances = (unsigned int)nr;
		for (int j = 0; j < nr; j++)
			node->distances[j] = found ? (int)found->values[i * nr + j] : i == j ? 10 : 20;
		for (unsigned int c = 0; c < host->nr_cpus; c++) {
			if (o->cpuset && hwloc_bitmap_isset(o->cpuset, c))
				host->cpus[c].node = node->node;
		}
	}
	if (found)
		hwloc_distances_release(t, found);
	return 0;
}

static int put_text(hwloc_topology_t t, const char *name, char **ret)
{
	const char *value = hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), name);

	*ret = value ? strdup(value) : NULL;
	return !value || *ret ? 0 : -ENOMEM;
}

int resched_host_hwloc(const char *path, struct resched_host **ret, struct resched_error *err)
{
	struct resched_host *host = calloc(1, sizeof(*host));
	hwloc_topology_t t = NULL;
	int rc = -ENOMEM;

	if (!host)
		return rs_error_nomem(err);
	host->autogroup = -1;
	if (hwloc_topology_init(&t) < 0)
		goto out;
	hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (hwloc_topology_set_xml(t, path) < 0 || hwloc_topology_load(t) < 0) {
		rc = rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "%s is not a machine in hwloc's XML (as 'lstopo FILE.xml' writes it)", path);
		goto out;
	}
	rc = put_cpus(t, host);
	if (rc == 0)
		rc = put_nodes(t, host);
	if (rc == 0)
		rc = put_text(t, "Architecture", &host->machine);
	if (rc == 0)
		rc = put_text(t, "OSRelease", &host->kernel);
	if (rc == -EBADMSG)
		(void)rs_error_set(err, RESCHED_DAMAGED, rc, "%s names no cpus, or too many", path);
out:
	if (t)
		hwloc_topology_destroy(t);
	if (rc < 0) {
		resched_host_free(host);
		return rc == -ENOMEM ? rs_error_nomem(err) : rc;
	}
	*ret = host;
	return 0;
}

#endif
