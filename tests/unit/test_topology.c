// SPDX-License-Identifier: GPL-2.0-only
/* Machines from text and presets, and the domains built over them, against worked examples and what recorded kernels built. */
#include <resched/topology.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "replay/domains.h"

struct level { const char *name, *span, *group0, *group1; unsigned int nr_groups, pct, tries, min_ms, imb; };
struct machine { const char *spec, *kernel; unsigned int cpu; struct level levels[6]; };

static const struct machine machines[] = {
	{ "vm2", "6.1", 0, { { "MC", "0-1", "0", "1", 2, 117, 1, 2, 0 } } },
	{ "vm2-sockets", "6.12", 0, { { "PKG", "0-1", "0", "1", 2, 117, 1, 2, 2 } } },
	{ "vm2-sockets", "6.1", 1, { { "DIE", "0-1", "1", "0", 2, 117, 1, 2, 2 } } },
	{ "vm2-threads", "6.12", 0, { { "SMT", "0-1", "0", "1", 2, 110, 0, 2, 0 } } },
	{ "m16", "6.12", 0, { { "SMT", "0,8", "0", "8", 2, 110, 0, 2, 0 }, { "MC", "0-15", "0,8", "1,9", 8, 117, 1, 16, 0 } } },
	{ "m16", "6.12", 9, { { "SMT", "1,9", "9", "1", 2, 110, 0, 2, 0 }, { "MC", "0-15", "1,9", "2,10", 8, 117, 1, 16, 0 } } },
	{ "zen3-2s-nps1", "6.1", 0, { { "SMT", "0,128", "0", "128", 2, 110, 0, 2, 0 },
				      { "MC", "0-7,128-135", "0,128", "1,129", 8, 117, 1, 16, 0 },
				      { "DIE", "0-63,128-191", "0-7,128-135", "8-15,136-143", 8, 117, 1, 128, 8 },
				      { "NUMA", "0-255", "0-63,128-191", "64-127,192-255", 2, 117, 2, 256, 8 } } },
	{ "zen3-2s-nps2", "6.12", 0, { { "SMT", "0,128", "0", "128", 2, 110, 0, 2, 0 },
				       { "MC", "0-7,128-135", "0,128", "1,129", 8, 117, 1, 16, 0 },
				       { "NODE", "0-31,128-159", "0-7,128-135", "8-15,136-143", 4, 117, 1, 64, 4 },
				       { "NUMA", "0-63,128-191", "0-31,128-159", "32-63,160-191", 2, 117, 2, 128, 4 },
				       { "NUMA", "0-255", "0-63,128-191", "64-127,192-255", 2, 117, 2, 256, 8 } } },
	{ "zen3-2s-nps4", "6.12", 0, { { "SMT", "0,128", "0", "128", 2, 110, 0, 2, 0 },
				       { "MC", "0-7,128-135", "0,128", "1,129", 8, 117, 1, 16, 0 },
				       { "NODE", "0-15,128-143", "0-7,128-135", "8-15,136-143", 2, 117, 1, 32, 2 },
				       { "NUMA", "0-63,128-191", "0-15,128-143", "16-31,144-159", 4, 117, 2, 128, 2 },
				       { "NUMA", "0-255", "0-63,128-191", "64-127,192-255", 2, 117, 2, 256, 4 } } },
	{ "cascadelake96", "6.12", 0, { { "SMT", "0,48", "0", "48", 2, 110, 0, 2, 0 },
					{ "MC", "0-23,48-71", "0,48", "1,49", 24, 117, 1, 48, 0 },
					{ "NUMA", "0-95", "0-23,48-71", "24-47,72-95", 2, 117, 2, 96, 6 } } },
	{ "hybrid-8p8e", "6.1", 0, { { "SMT", "0-1", "0", "1", 2, 110, 0, 2, 0 }, { "MC", "0-23", "0-1", "2-3", 16, 117, 1, 24, 0 } } },
	{ "hybrid-8p8e", "6.1", 16, { { "MC", "0-23", "16", "17", 16, 117, 1, 24, 0 } } },
	{ "hybrid-8p8e", "6.12", 16, { { "CLS", "16-19", "16", "17", 4, 117, 1, 4, 0 }, { "MC", "0-23", "16-19", "20-23", 10, 117, 1, 24, 0 } } },
	{ "biglittle", "6.12", 0, { { "MC", "0-7", "0", "1", 8, 117, 1, 8, 0 } } },
	/* The cache of each node: NODE equals MC. */
	{ "sockets=1,nodes=2,llc=1,cores=2,smt=1", "6.12", 3, { { "MC", "2-3", "3", "2", 2, 117, 1, 2, 0 },
								{ "NUMA", "0-3", "2-3", "0-1", 2, 117, 2, 4, 1 } } },
	{ "m16", "6.12", 3, { { "SMT", "3,11", "3", "11", 2, 110, 0, 2, 0 }, { "MC", "0-15", "3,11", "4,12", 8, 117, 1, 16, 0 } } },
	{ "sockets=1,nodes=1,llc=1,cores=4,smt=1,isolated=2+3", "6.12", 0, { { "MC", "0-1", "0", "1", 2, 117, 1, 4, 0 } } },
	{ "sockets=1,nodes=1,llc=1,cores=4,smt=1,isolated=2-3", "6.12", 2, { { NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0 } } },
	{ "sockets=1,nodes=1,llc=1,cores=2,smt=2,offline=2", "6.12", 0, { { "MC", "0-1,3", "0", "1,3", 2, 117, 1, 3, 0 } } },
};

static struct resched_domains *domains_of(const char *spec, const char *kernel)
{
	struct resched_domains *d = NULL;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };

	if (resched_topology_load(spec, &host, &err) < 0)
		fail_msg("%s: %s", spec, err.text);
	assert_int_equal(resched_domains_build(host, kernel, &d, &err), 0);
	resched_host_free(host);
	return d;
}

static void worked_machines(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		const struct machine *want = &machines[m];
		struct resched_domains *d = domains_of(want->spec, want->kernel);
		struct resched_domain got;
		unsigned int i;
		char text[200];

		for (i = 0; i < 6 && want->levels[i].name; i++) {
			const struct level *l = &want->levels[i];

			if (!resched_domain_of(d, want->cpu, i, &got))
				fail_msg("%s, cpu %u: no level %u", want->spec, want->cpu, i);
			resched_domain_span(d, want->cpu, i, -1, text, sizeof(text));
			if (strcmp(got.name, l->name) != 0 || strcmp(text, l->span) != 0)
				fail_msg("%s, cpu %u, level %u: %s %s", want->spec, want->cpu, i, got.name, text);
			resched_domain_span(d, want->cpu, i, 0, text, sizeof(text));
			assert_string_equal(text, l->group0);
			resched_domain_span(d, want->cpu, i, 1, text, sizeof(text));
			assert_string_equal(text, l->group1);
			if (got.nr_groups != l->nr_groups || got.imbalance_pct != l->pct || got.cache_nice_tries != l->tries ||
			    got.min_interval_ms != l->min_ms || got.max_interval_ms != 2 * l->min_ms || got.imb_numa_nr != l->imb)
				fail_msg("%s, cpu %u, level %u: %u groups, %u%%, %u tries, %u ms, imb %u", want->spec, want->cpu, i,
					 got.nr_groups, got.imbalance_pct, got.cache_nice_tries, got.min_interval_ms, got.imb_numa_nr);
		}
		assert_int_equal(resched_domain_of(d, want->cpu, i, &got), 0);
		resched_domains_free(d);
	}
}

static unsigned int flags_at(const struct resched_domains *d, unsigned int cpu, unsigned int level)
{
	struct resched_domain got;

	assert_int_equal(resched_domain_of(d, cpu, level, &got), 1);
	return got.flags;
}

static void flags_follow_the_level(void **state)
{
	const unsigned int all = RESCHED_SD_BALANCE_NEWIDLE | RESCHED_SD_BALANCE_EXEC | RESCHED_SD_BALANCE_FORK | RESCHED_SD_WAKE_AFFINE;
	const unsigned int numa = RESCHED_SD_NUMA | RESCHED_SD_SERIALIZE | RESCHED_SD_OVERLAP;
	struct resched_domains *d = domains_of("zen3-2s-nps2", "6.12");

	(void)state;
	assert_int_equal(flags_at(d, 5, 0), all | RESCHED_SD_PREFER_SIBLING | RESCHED_SD_LLC | RESCHED_SD_SHARE_CPUCAPACITY);
	assert_int_equal(flags_at(d, 5, 1), all | RESCHED_SD_PREFER_SIBLING | RESCHED_SD_LLC);
	assert_int_equal(flags_at(d, 5, 2), all | RESCHED_SD_PREFER_SIBLING);
	assert_int_equal(flags_at(d, 5, 3), all | numa);
	assert_int_equal(flags_at(d, 5, 4), all | numa);	/* 32 is within reach on this family */
	resched_domains_free(d);
	d = domains_of("sockets=2,nodes=2,cores=2,far=32", "6.12");
	assert_int_equal(flags_at(d, 0, 1), RESCHED_SD_BALANCE_NEWIDLE | numa);
	resched_domains_free(d);
	d = domains_of("biglittle", "6.12");
	assert_true(flags_at(d, 0, 0) & RESCHED_SD_ASYM_CPUCAPACITY_FULL);
	resched_domains_free(d);
	d = domains_of("hybrid-8p8e", "6.12");
	assert_true(d->cluster_active);
	resched_domains_free(d);
}

/* 6.12 mends group flags when a level is removed, 6.1 does not. */
static void group_flags_differ_by_release(void **state)
{
	struct resched_domains *d = domains_of("m16", "6.12");

	(void)state;
	assert_true(d->chains[0].levels[1].shape->groups[0].flags & RESCHED_SD_SHARE_CPUCAPACITY);
	assert_int_equal(d->chains[0].levels[1].shape->groups[0].cores, 1);
	assert_int_equal(d->llc_of[9], 0);
	resched_domains_free(d);
	d = domains_of("m16", "6.1");
	assert_false(d->chains[0].levels[1].shape->groups[0].flags & RESCHED_SD_SHARE_CPUCAPACITY);
	resched_domains_free(d);
}

static void bad_machines_are_refused(void **state)
{
	static const char *const bad[] = { "cores=0", "cores=x", "sockets=2,nodes=3", "what=1", "cores=", "smt=1,", "cores=4096,llc=1024",
					   "numbering=odd,cores=2", "no-such-preset", "cores=-1", "isolated=a", "=", "cores=99999999999" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct resched_host *host = NULL;
		struct resched_error err = { 0 };

		if (resched_topology_load(bad[i], &host, &err) >= 0)
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(err.kind, RESCHED_USAGE);
		assert_true(err.text[0] != '\0');
		assert_null(host);
	}
}

static void every_preset_builds(void **state)
{
	const char *name, *spec, *about;

	(void)state;
	for (unsigned int i = 0; resched_topology_preset(i, &name, &spec, &about); i++) {
		struct resched_domains *d;

		d = domains_of(name, "6.1");
		assert_true(d->nr_shapes > 0);
		resched_domains_free(d);
		d = domains_of(name, "6.12");
		for (unsigned int cpu = 0; cpu < d->nr_cpus; cpu++) {
			for (unsigned int l = 0; l < d->chains[cpu].nr; l++) {
				const struct rs_domain *dom = &d->chains[cpu].levels[l];

				assert_true(rs_span_has(&dom->shape->span, cpu));
				assert_true(rs_span_has(&dom->shape->groups[dom->local].span, cpu));
			}
		}
		resched_domains_free(d);
	}
}

/* ---- what recorded kernels built ---- */

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	if (in) {
		size_t got = fread(text, 1, (1 << 20) - 1, in);

		text[got] = '\0';
		fclose(in);
	}
	return text;
}

static int list_first(const char *text)
{
	return atoi(text);
}

/* The [topology] section of a recording's notes. */
static struct resched_host *host_of_notes(const char *notes)
{
	struct resched_host *host = calloc(1, sizeof(*host));
	const char *line = strstr(notes, "[topology]\n");
	const char *kernel = strstr(notes, "uname: Linux (none) ");
	unsigned int n = 0;

	host->autogroup = -1;
	host->kernel = strndup(kernel + 20, strcspn(kernel + 20, " "));
	host->cpus = calloc(64, sizeof(*host->cpus));
	host->nodes = calloc(8, sizeof(*host->nodes));
	for (line = strchr(line, '\n') + 1; *line && *line != '['; line = strchr(line, '\n') + 1) {
		unsigned int cpu, node;
		int pkg, die, core, nodeid;
		char siblings[32], cores[32], llc[128];
		const char *l3;

		if (sscanf(line, "cpu%u pkg=%d die=%d core=%d siblings=%31s core_cpus=%31s node=%d llc=%127s", &cpu, &pkg, &die, &core, siblings,
			   cores, &nodeid, llc) == 8) {
			l3 = strstr(llc, "L3:");
			host->cpus[n++] = (struct resched_host_cpu){ .cpu = cpu, .online = 1, .core = list_first(siblings), .cluster = -1,
				.llc = l3 ? list_first(l3 + 3) : -1, .die = die, .package = pkg, .node = nodeid, .capacity = 1024 };
		} else if (sscanf(line, "node%u cpus=", &node) == 1) {
			struct resched_host_node *h = &host->nodes[host->nr_nodes++];
			const char *at = strstr(line, "distance=") + 9;

			h->node = (int)node;
			h->distances = calloc(8, sizeof(int));
			while (*at && *at != '\n' && h->nr_distances < 8)
				h->distances[h->nr_distances++] = (int)strtol(at, (char **)&at, 10);
		}
	}
	host->nr_cpus = n;
	return host;
}

static void as_recorded_kernels_built(void **state)
{
	const char *shared = getenv("RESCHED_SHARED");
	char dir[PATH_MAX], path[PATH_MAX + 300];
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *lab;

	(void)state;
	snprintf(dir, sizeof(dir), "%s/traces/lab", shared ? shared : "../shared");
	lab = opendir(dir);
	if (!lab) {
		print_message("skipped: no recordings in %s\n", dir);
		skip();
		return;
	}
	while ((entry = readdir(lab))) {
		struct resched_domains *d = NULL;
		struct resched_host *host;
		struct resched_error err = { 0 };
		char *notes;

		if (entry->d_name[0] == '.' || strstr(entry->d_name, "-1c-"))
			continue;
		snprintf(path, sizeof(path), "%s/%s/meta.txt", dir, entry->d_name);
		notes = read_file(path);
		if (strstr(notes, "[schedstat before]") && strstr(notes, "[topology]")) {
			char *stat = strstr(notes, "[schedstat before]"), *end = strstr(stat, "[schedstat after]");

			if (end)
				*end = '\0';
			host = host_of_notes(notes);
			assert_int_equal(resched_domains_build(host, NULL, &d, &err), 0);
			if (resched_domains_check(d, stat, &err) != 0)
				fail_msg("%s: %s", entry->d_name, err.text);
			resched_domains_free(d);
			resched_host_free(host);
			nr++;
		}
		free(notes);
	}
	closedir(lab);
	print_message("domains of %u recordings agree\n", nr);
	assert_true(nr > 0);
}

static void a_difference_is_told(void **state)
{
	struct resched_domains *d = domains_of("vm4", "6.12");
	struct resched_error err = { 0 };

	(void)state;
	assert_int_equal(resched_domains_check(d, "version 16\ncpu0 0 0\ndomain0 f 0 0\ncpu1 0\ndomain0 00000000,0000000f 1\n", &err), 0);
	assert_int_equal(resched_domains_check(d, "cpu0 0 0\ndomain0 MC f 0 0\n", &err), 0);
	assert_int_equal(resched_domains_check(d, "cpu0 0 0\ndomain0 3 0 0\ndomain1 f 0\n", &err), 1);
	assert_non_null(strstr(err.text, "0-1"));
	assert_int_equal(resched_domains_check(d, "cpu0 0 0\ncpu1 0\n", &err), 1);
	assert_int_equal(resched_domains_check(d, "cpu0 0 0\ndomain0 xyz\n", &err), -EBADMSG);
	assert_int_equal(resched_domains_check(d, "nonsense", &err), -EBADMSG);
	resched_domains_free(d);
}

/* A folder as debugfs has it, of the domains of @d; @flags and @pct of the lowest may be replaced. */
static void put_debugfs(const struct resched_domains *d, const char *dir, const char *flags, unsigned int pct)
{
	struct resched_domain info;
	char path[200];

	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		for (unsigned int level = 0; resched_domain_of(d, cpu, level, &info); level++) {
			const char *const names[] = { "name", "flags", "imbalance_pct", "min_interval", "max_interval", "cache_nice_tries" };
			const unsigned int values[] = { 0, 0, level ? info.imbalance_pct : pct, info.min_interval_ms, info.max_interval_ms,
							info.cache_nice_tries };

			snprintf(path, sizeof(path), "mkdir -p %s/cpu%u/domain%u", dir, cpu, level);
			assert_int_equal(system(path), 0);	/* NOLINT(cert-env33-c) */
			for (unsigned int i = 0; i < 6; i++) {
				FILE *out;

				snprintf(path, sizeof(path), "%s/cpu%u/domain%u/%s", dir, cpu, level, names[i]);
				out = fopen(path, "we");
				assert_non_null(out);
				if (!i)
					fprintf(out, "%s\n", info.name);
				else if (i == 1)
					fprintf(out, "%s \n", flags);
				else
					fprintf(out, "%u\n", values[i]);
				fclose(out);
			}
		}
	}
}

static void debugfs_is_compared(void **state)
{
	struct resched_domains *d = domains_of("vm2", "6.12"), *more = domains_of("vm4", "6.12");
	const char *right = "SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SHARE_PKG_RESOURCES SD_PREFER_SIBLING";
	char dir[] = "/tmp/resched-debugfs-XXXXXX", command[64];
	struct resched_error err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(resched_domains_check_debugfs(d, dir, &err), -ENODATA);
	put_debugfs(d, dir, right, 117);
	assert_int_equal(resched_domains_check_debugfs(d, dir, &err), 0);
	put_debugfs(d, dir, right, 116);
	assert_int_equal(resched_domains_check_debugfs(d, dir, &err), 1);
	assert_string_equal(err.text, "cpu 0, domain 0: imbalance_pct is 116 in the kernel, 117 in the model");
	put_debugfs(d, dir, "SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SHARE_LLC SD_SERIALIZE", 117);
	assert_int_equal(resched_domains_check_debugfs(d, dir, &err), 1);
	assert_string_equal(err.text, "cpu 0, domain 0: flags only in the kernel: SERIALIZE; only in the model: PREFER_SIBLING");
	put_debugfs(d, dir, "SD_NEW_THING", 117);
	assert_int_equal(resched_domains_check_debugfs(d, dir, &err), 1);
	assert_non_null(strstr(err.text, "SD_NEW_THING"));
	put_debugfs(d, dir, right, 117);
	assert_int_equal(resched_domains_check_debugfs(more, dir, &err), 1);	/* four cpus */
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);	/* NOLINT(cert-env33-c) */
	resched_domains_free(more);
	resched_domains_free(d);
}

/* Seen in a guest with isolcpus=domain,2: the interval is that of the four cpus of the cache. */
static void isolated_cpus_count_in_the_intervals(void **state)
{
	struct resched_domains *d = domains_of("sockets=1,cores=4,isolated=2", "6.12");
	struct resched_domain info;

	(void)state;
	assert_int_equal(resched_domain_of(d, 0, 0, &info), 1);
	assert_int_equal(info.weight, 3);
	assert_int_equal(info.min_interval_ms, 4);
	assert_int_equal(info.max_interval_ms, 8);
	assert_int_equal(resched_domain_of(d, 2, 0, &info), 0);
	resched_domains_free(d);
}

/* tests/data/hwloc-16.xml: two packages, each one node with two L3 of two cores of two threads; distance 21; cpu 15 is missing. */
static void xml_of_hwloc(void **state)
{
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	struct resched_domains *d;
	struct resched_domain info;
	FILE *out;
	int rc = resched_topology_load("tests/data/hwloc-16.xml", &host, &err);

	(void)state;
	if (rc == -ENOSYS)
		skip();
	assert_int_equal(rc, 0);
	assert_int_equal(host->nr_cpus, 16);
	assert_string_equal(host->machine, "x86_64");
	assert_string_equal(host->kernel, "6.12.48");
	assert_int_equal(host->cpus[13].core, 12);
	assert_int_equal(host->cpus[13].llc, 12);
	assert_int_equal(host->cpus[13].package, 8);
	assert_int_equal(host->cpus[13].node, 1);
	assert_true(host->cpus[13].online);
	assert_false(host->cpus[15].online);
	assert_int_equal(host->nodes[1].distances[0], 21);
	assert_int_equal(resched_domains_build(host, NULL, &d, NULL), 0);
	assert_int_equal(resched_domain_of(d, 0, 3, &info), 1);
	assert_string_equal(info.name, "NUMA");
	assert_int_equal(info.weight, 15);
	resched_domains_free(d);
	resched_host_free(host);
	out = fopen("/tmp/resched-no-machine.xml", "we");
	assert_non_null(out);
	fputs("<?xml version=\"1.0\"?>\n<html></html>\n", out);
	fclose(out);
	assert_int_equal(resched_topology_load("/tmp/resched-no-machine.xml", &host, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "hwloc"));
	remove("/tmp/resched-no-machine.xml");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_machines), cmocka_unit_test(flags_follow_the_level), cmocka_unit_test(group_flags_differ_by_release),
		cmocka_unit_test(bad_machines_are_refused), cmocka_unit_test(every_preset_builds), cmocka_unit_test(as_recorded_kernels_built),
		cmocka_unit_test(a_difference_is_told), cmocka_unit_test(debugfs_is_compared),
		cmocka_unit_test(isolated_cpus_count_in_the_intervals), cmocka_unit_test(xml_of_hwloc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
