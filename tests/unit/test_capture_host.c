// SPDX-License-Identifier: GPL-2.0-only
/* The host snapshot, read from made-up machines below a folder, and from this one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <resched/host.h>

#include "base/map.h"
#include "capture/host_internal.h"

/* ---- a folder that looks like a machine */

static char root[64];

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/resched-host-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
	char full[PATH_MAX], *slash;
	FILE *out;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	out = fopen(full, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void put_cpu(unsigned int cpu, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
	put(path, text);
}

/* stat of a thread: state, flags, nice, rt priority and policy at their places. */
static void put_task(int pid, int tid, const char *comm, char task_state, unsigned long flags,
		     int nice, int rt, int policy, const char *cgroup)
{
	char path[128], text[512];

	snprintf(text, sizeof(text),
		 "%d (%s) %c 1 1 1 0 -1 %lu 0 0 0 0 1 1 0 0 20 %d 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 "
		 "0 0 0 17 0 %d %d 0 0 0\n",
		 tid, comm, task_state, flags, nice, rt, policy);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	put(path, text);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/cgroup", pid, tid);
	put(path, cgroup);
}

/* Two packages of two cores with two threads each; the last cpu is offline. */
static void make_machine(void)
{
	static const char *const siblings[] = { "0,4", "1,5", "2,6", "3", "0,4", "1,5", "2,6" };
	unsigned int cpu;

	put("/proc/sys/kernel/osrelease", "6.12.48+deb12-cloud-amd64\n");
	put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian\n");
	put("/proc/sys/kernel/arch", "x86_64\n");
	put("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
	put("/proc/sys/kernel/sched_rt_runtime_us", "950000\n");
	put("/proc/cmdline", "root=/dev/vda1 quiet\n");
	put("/boot/config-6.12.48+deb12-cloud-amd64",
	    "# CONFIG_HZ_100 is not "
	    "set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_"
	    "DYNAMIC=y\n");
	put("/sys/devices/system/cpu/possible", "0-7\n");
	put("/sys/devices/system/cpu/online", "0-6\n");
	put("/sys/devices/system/cpu/isolated", "5\n");
	for (cpu = 0; cpu < 7; cpu++) {
		put_cpu(cpu, "topology/core_cpus_list", siblings[cpu]);
		put_cpu(cpu, "topology/package_cpus_list", cpu % 4 < 2 ? "0-1,4-5\n" : "2-3,6\n");
		put_cpu(cpu, "topology/die_cpus_list", cpu % 4 < 2 ? "0-1,4-5\n" : "2-3,6\n");
		put_cpu(cpu, "topology/cluster_id", "65535\n");
		put_cpu(cpu, "topology/cluster_cpus_list", siblings[cpu]);
		put_cpu(cpu, "cache/index0/level", "1\n");
		put_cpu(cpu, "cache/index0/type", "Data\n");
		put_cpu(cpu, "cache/index0/shared_cpu_list", siblings[cpu]);
		put_cpu(cpu, "cache/index1/level", "3\n");
		put_cpu(cpu, "cache/index1/type", "Unified\n");
		put_cpu(cpu, "cache/index1/shared_cpu_list", cpu % 4 < 2 ? "0-1,4-5\n" : "2-3,6\n");
	}
	put_cpu(3, "cpu_capacity", "446\n");
	put("/sys/devices/system/node/online", "0-1\n");
	put("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
	put("/sys/devices/system/node/node0/distance", "10 21\n");
	put("/sys/devices/system/node/node1/cpulist", "2-3,6\n");
	put("/sys/devices/system/node/node1/distance", "21 10\n");
	put("/sys/kernel/debug/sched/features", "PLACE_LAG NO_NEXT_BUDDY RUN_TO_PARITY\n");
	put("/sys/kernel/debug/sched/base_slice_ns", "2800000\n");
	put("/sys/kernel/debug/sched/migration_cost_ns", "500000\n");
	put("/sys/kernel/debug/sched/preempt", "none voluntary (full) lazy \n");
	put("/proc/self/mounts",
	    "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
	put("/sys/fs/cgroup/web.slice/cpu.weight", "250\n");
	put("/sys/fs/cgroup/web.slice/cpu.max", "max 100000\n");
	put("/sys/fs/cgroup/web.slice/a b/cpu.weight", "10\n");
	put("/sys/fs/cgroup/web.slice/a b/cpu.max", "50000 200000\n");
	put("/sys/fs/cgroup/web.slice/a b/cpuset.cpus.effective", "0-3\n");
	put_task(2, 2, "kthreadd", 'S', 0x208040, 0, 0, 0, "0::/\n");
	put_task(90, 90, "tricky) (name R", 'R', 0x400000, 5, 0, 3, "0::/web.slice/a b\n");
	put_task(90, 91, "rt", 'S', 0x400000, 0, 42, 1, "0::/web.slice/a b\n");
	put("/proc/90/autogroup", "/autogroup-25 nice -3\n");
}

static struct resched_host *read_root(void)
{
	struct resched_host *host = NULL;

	assert_int_equal(rs_host_read_at(root, &host, NULL), 0);
	assert_non_null(host);
	return host;
}

static const char *unknown(const struct resched_host *host, const char *name)
{
	unsigned int i;

	for (i = 0; i < host->nr_unknown; i++) {
		if (strcmp(host->unknown[i].name, name) == 0)
			return host->unknown[i].value;
	}
	return NULL;
}

static void test_kernel(void **state)
{
	struct resched_host *host;

	(void)state;
	make_machine();
	host = read_root();
	assert_string_equal(host->kernel, "6.12.48+deb12-cloud-amd64");
	assert_string_equal(host->machine, "x86_64");
	assert_int_equal(host->hz, 250);
	assert_string_equal(host->preempt,
			    "full"); /* what debugfs shows, not what was configured */
	assert_int_equal(host->autogroup, 1);
	assert_string_equal(host->clock, "mono");
	resched_host_free(host);
}

static void test_preempt_without_debugfs(void **state)
{
	struct resched_host *host;
	char path[PATH_MAX];

	(void)state;
	make_machine();
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/sched/preempt", root);
	assert_int_equal(unlink(path), 0);
	host = read_root();
	assert_string_equal(host->preempt, "voluntary");
	resched_host_free(host);
	put("/proc/cmdline", "quiet preempt=none rw\n");
	host = read_root();
	assert_string_equal(host->preempt, "none");
	resched_host_free(host);
}

static void test_topology(void **state)
{
	struct resched_host *host;

	(void)state;
	make_machine();
	host = read_root();
	assert_int_equal(host->nr_cpus, 8);
	assert_int_equal(host->cpus[5].core, 1);	/* the sibling of cpu 1 */
	assert_int_equal(host->cpus[5].llc, 0);
	assert_int_equal(host->cpus[5].package, 0);
	assert_int_equal(host->cpus[5].cluster, -1);
	assert_true(host->cpus[5].isolated);
	assert_true(host->cpus[5].online);
	assert_int_equal(host->cpus[6].llc, 2);
	assert_int_equal(host->cpus[6].node, 1);
	assert_int_equal(host->cpus[3].capacity, 446);
	assert_int_equal(host->cpus[4].capacity, 1024);
	assert_false(host->cpus[7].online);
	assert_int_equal(host->cpus[7].core, -1);
	assert_int_equal(host->nr_nodes, 2);
	assert_int_equal(host->nodes[1].nr_distances, 2);
	assert_int_equal(host->nodes[1].distances[0], 21);
	assert_null(unknown(host, "llc"));
	assert_null(resched_host_tunable(host, "reclaim_distance"));
	resched_host_free(host);
	put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n");
	host = read_root();
	assert_string_equal(resched_host_tunable(host, "reclaim_distance"), "32");
	resched_host_free(host);
	put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 25\nmodel\t\t: 1\n");
	host = read_root();
	assert_null(resched_host_tunable(host, "reclaim_distance"));
	resched_host_free(host);
}

static void test_tunables(void **state)
{
	struct resched_host *host;

	(void)state;
	make_machine();
	host = read_root();
	assert_int_equal(host->nr_features, 3);
	assert_string_equal(host->features[1], "NO_NEXT_BUDDY");
	assert_string_equal(resched_host_tunable(host, "base_slice_ns"), "2800000");
	assert_string_equal(resched_host_tunable(host, "migration_cost_ns"), "500000");
	assert_string_equal(resched_host_tunable(host, "rt_runtime_us"), "950000");
	assert_null(resched_host_tunable(host, "latency_ns"));
	resched_host_free(host);
}

static void test_tasks_and_cgroups(void **state)
{
	const struct resched_host_task *task;
	struct resched_host *host;

	(void)state;
	make_machine();
	host = read_root();
	assert_int_equal(host->nr_tasks, 3);
	assert_true(host->tasks[0].kthread);
	task = resched_host_task(host, 90);
	assert_non_null(task);
	assert_string_equal(task->comm, "tricky) (name R");
	assert_int_equal(task->state, 'R');
	assert_int_equal(task->policy, 3);
	assert_int_equal(task->nice, 5);
	assert_int_equal(task->autogroup, 25);
	assert_int_equal(task->autogroup_nice, -3);
	assert_false(task->kthread);
	assert_string_equal(task->cgroup, "/web.slice/a b");
	task = resched_host_task(host, 91);
	assert_int_equal(task->tgid, 90);
	assert_int_equal(task->policy, 1);
	assert_int_equal(task->rt_priority, 42);
	/* the groups above the tasks' are there as well */
	assert_int_equal(host->nr_cgroups, 3);
	assert_string_equal(host->cgroups[0].path, "/");
	assert_int_equal(host->cgroups[0].weight, 100);
	assert_string_equal(host->cgroups[1].path, "/web.slice");
	assert_int_equal(host->cgroups[1].weight, 250);
	assert_int_equal(host->cgroups[1].quota_us, 0);
	assert_int_equal(host->cgroups[2].weight, 10);
	assert_int_equal(host->cgroups[2].quota_us, 50000);
	assert_int_equal(host->cgroups[2].period_us, 200000);
	assert_string_equal(host->cgroups[2].cpuset, "0-3");
	resched_host_free(host);
}

static void test_cgroup_v1(void **state)
{
	struct resched_host *host;

	(void)state;
	make_machine();
	put("/proc/self/mounts", "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup "
				 "/sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n");
	put_task(2, 2, "kthreadd", 'S', 0x208040, 0, 0, 0, "0::/\n");
	put_task(90, 90, "a", 'S', 0, 0, 0, 0, "3:memory:/m\n2:cpuacct,cpu:/jobs/x\n0::/elsewhere\n");
	put_task(90, 91, "b", 'S', 0, 0, 0, 0, "4:cpuset:/y\n3:cpu,cpuacct:/jobs\n0::/\n");
	put("/sys/fs/cgroup/cpu/jobs/cpu.shares", "2048\n");
	put("/sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/cgroup/cpu/jobs/x/cpu.shares", "2\n");
	put("/sys/fs/cgroup/cpu/jobs/x/cpu.cfs_quota_us", "30000\n");
	put("/sys/fs/cgroup/cpu/jobs/x/cpu.cfs_period_us", "60000\n");
	host = read_root();
	assert_string_equal(resched_host_task(host, 90)->cgroup, "/jobs/x");
	assert_string_equal(resched_host_task(host, 91)->cgroup, "/jobs");
	assert_int_equal(host->nr_cgroups, 3);
	assert_int_equal(host->cgroups[1].weight, 200);
	assert_int_equal(host->cgroups[1].quota_us, 0);
	assert_int_equal(host->cgroups[2].weight, 1);
	assert_int_equal(host->cgroups[2].quota_us, 30000);
	assert_int_equal(host->cgroups[2].period_us, 60000);
	resched_host_free(host);
}

/* Nothing there at all: every part says so, none is invented. */
static void test_empty_machine(void **state)
{
	struct resched_host *host = read_root();

	(void)state;
	assert_null(host->kernel);
	assert_int_equal(host->hz, 0);
	assert_null(host->preempt);
	assert_int_equal(host->autogroup, -1);
	assert_int_equal(host->nr_cpus, 0);
	assert_int_equal(host->nr_tasks, 0);
	assert_non_null(unknown(host, "kernel"));
	assert_non_null(unknown(host, "hz"));
	assert_non_null(unknown(host, "preempt"));
	assert_non_null(unknown(host, "cpus"));
	assert_non_null(unknown(host, "features"));
	assert_non_null(unknown(host, "tasks"));
	assert_non_null(unknown(host, "cgroups"));
	resched_host_free(host);
}

static void test_garbage(void **state)
{
	struct resched_host *host;

	(void)state;
	make_machine();
	put("/sys/devices/system/cpu/possible", "0-99999999\n");
	put("/sys/devices/system/cpu/online", "frogs\n");
	put("/proc/90/task/90/stat", "90 no brackets here\n");
	put("/proc/90/task/91/stat", "91 (short) S 1 2 3\n");
	put("/proc/2/task/2/cgroup", ":::::\n\n:\n");
	put("/sys/kernel/debug/sched/features", "\n");
	put("/boot/config-6.12.48+deb12-cloud-amd64", "CONFIG_HZ=banana\n");
	host = read_root();
	assert_int_equal(host->nr_cpus, 0);
	assert_non_null(unknown(host, "cpus"));
	assert_int_equal(host->nr_tasks, 1);
	assert_int_equal(host->hz, 0);
	assert_int_equal(host->nr_features, 0);
	resched_host_free(host);
}

/* ---- sched/debug */

static const char debug_618[] =
	"Sched Debug Version: v0.11, 6.18.44 #1\n"
	"jiffies                                 : 4295088934\n"
	"sysctl_sched\n"
	"  .sysctl_sched_base_slice                 : 1.400000\n"
	"  .sysctl_sched_features                   : 99674079\n"
	"  .sysctl_sched_tunable_scaling            : 1 (logarithmic)\n"
	"runnable tasks:\n"
	" S            task   PID       vruntime   eligible    deadline             slice          "
	"sum-exec      switches  prio\n"
	"-------------------------------------------------------------------------------------\n"
	" S   vsock-console    59     32303.541330   E       32304.917104           1.400000       "
	" 30.308263      1123     120\n"
	">R tokio rt worker    68     32687.401964   N       32688.761364   S       0.500000       "
	"274.194720      4334     120\n"
	" I kworker/R-rcu_g     4        -1.048576   E          -1.040501           0.700000       "
	"  0.000000         2     100\n"
	" S            long 1234567     1.000000   E          2.000000   S       3.000000         "
	"0.000000         2     120\n";

static void test_debug_values(void **state)
{
	char text[64];

	(void)state;
	assert_int_equal(rs_debug_value(debug_618, ".sysctl_sched_base_slice", text, sizeof(text)), 0);
	assert_string_equal(text, "1.400000");
	assert_int_equal(rs_debug_value(debug_618, "jiffies", text, sizeof(text)), 0);
	assert_string_equal(text, "4295088934");
	assert_int_equal(rs_debug_value(debug_618, ".sysctl_sched_latency", text, sizeof(text)),
			 -ENOENT);
	assert_int_equal(rs_debug_value(debug_618, ".sysctl_sched_base", text, sizeof(text)),
			 -ENOENT);
}

static void test_debug_slices(void **state)
{
	struct rs_map map;

	(void)state;
	assert_int_equal(rs_debug_slices(debug_618, &map), 0);
	assert_int_equal(map.count, 4);
	assert_int_equal(rs_map_get(&map, 59), 0);
	assert_int_equal(rs_map_get(&map, 68), 1);
	assert_int_equal(rs_map_get(&map, 4), 0);
	assert_int_equal(rs_map_get(&map, 1234567), 1);
	assert_int_equal(rs_map_get(&map, 60), RS_MAP_NONE);
	rs_map_release(&map);
	/* 6.1 has neither column */
	assert_int_equal(rs_debug_slices(" S            bash   700      5432.100000       123   "
					 "120         0.0\n\n x\n",
					 &map),
			 0);
	assert_int_equal(map.count, 0);
	rs_map_release(&map);
}

static void test_debug_newidle(void **state)
{
	static const char text[] = "jiffies : 1\ncpu#1, 2592.000 MHz\n  .nr_running : 0\n  .avg_idle : 1998418\n"
				   "  .max_idle_balance_cost         : 999209\n\ncpu#10, 2592.000 MHz\n  .max_idle_balance_cost : 700000\n"
				   "cpu#2\n  .nr_running : 1\ncpu#3\n  .max_idle_balance_cost : 500000\n";
	struct resched_host_cpu cpus[] = { { .cpu = 1 }, { .cpu = 2 }, { .cpu = 3 }, { .cpu = 4 }, { .cpu = 10 } };
	struct resched_host host = { .cpus = cpus, .nr_cpus = 5 };

	(void)state;
	rs_debug_newidle(text, &host);
	assert_int_equal(cpus[0].newidle_ns, 999209);
	assert_int_equal(cpus[1].newidle_ns, 0);	/* another cpu's value follows */
	assert_int_equal(cpus[2].newidle_ns, 0);	/* the cost of a migration: the floor */
	assert_int_equal(cpus[3].newidle_ns, 0);
	assert_int_equal(cpus[4].newidle_ns, 700000);
}

static void test_debug_instead_of_files(void **state)
{
	struct resched_host *host;
	char path[PATH_MAX];

	(void)state;
	make_machine();
	put("/proc/sys/kernel/osrelease", "6.18.44\n");
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/sched/features", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/sched/base_slice_ns", root);
	unlink(path);
	put("/sys/kernel/debug/sched/debug", debug_618);
	host = read_root();
	assert_string_equal(resched_host_tunable(host, "base_slice_ns"), "1400000");
	assert_string_equal(resched_host_tunable(host, "tunable_scaling"), "1");
	assert_int_equal(host->nr_features, 27);
	assert_string_equal(host->features[5], "NO_NEXT_BUDDY");
	resched_host_free(host);
	put("/proc/sys/kernel/osrelease", "6.15.0\n");
	host = read_root();
	assert_int_equal(host->nr_features, 0);
	assert_non_null(strstr(unknown(host, "features"), "99674079"));
	resched_host_free(host);
}

/* ---- the bit mask of features: masks as three kernels boot with them */

static void check_features(const char *release, uint64_t mask, unsigned int nr, const char *expected)
{
	char **names = NULL, text[2048] = "";
	unsigned int got = 0, i;

	assert_int_equal(rs_features_decode(release, mask, &names, &got), 0);
	assert_int_equal(got, nr);
	for (i = 0; i < got; i++) {
		if (strncmp(names[i], "NO_", 3) == 0) {
			strcat(text, names[i] + 3);
			strcat(text, " ");
		}
		free(names[i]);
	}
	free(names);
	assert_string_equal(text, expected);	/* the ones that are off */
}

static void test_feature_masks(void **state)
{
	char **names;
	unsigned int nr;

	(void)state;
	check_features("6.1.192", 125703739, 27,
		       "NEXT_BUDDY HRTICK HRTICK_DL DOUBLE_TICK SIS_PROP WARN_DOUBLE_CLOCK "
		       "RT_PUSH_IPI RT_RUNTIME_SHARE LB_MIN LATENCY_WARN ");
	check_features("6.12.117-amd64", 199346143, 28,
		       "NEXT_BUDDY HRTICK HRTICK_DL DOUBLE_TICK WARN_DOUBLE_CLOCK RT_PUSH_IPI "
		       "RT_RUNTIME_SHARE LB_MIN LATENCY_WARN ");
	check_features("6.18.44-x", 99674079, 27,
		       "NEXT_BUDDY HRTICK HRTICK_DL WARN_DOUBLE_CLOCK RT_PUSH_IPI RT_RUNTIME_SHARE "
		       "LB_MIN LATENCY_WARN ");
	/* before NI_RANDOM came into 6.1: the two bits behind it are one lower */
	check_features("6.1.0-9-amd64", (125703739u & 0xffffff) | 3u << 24, 26,
		       "NEXT_BUDDY HRTICK HRTICK_DL DOUBLE_TICK SIS_PROP WARN_DOUBLE_CLOCK "
		       "RT_PUSH_IPI RT_RUNTIME_SHARE LB_MIN LATENCY_WARN ");
	assert_int_equal(rs_features_decode("6.11.5", 1, &names, &nr), -ENOENT);
	assert_int_equal(rs_features_decode("6.180.0", 1, &names, &nr), -ENOENT);
	assert_int_equal(rs_features_decode("", 1, &names, &nr), -ENOENT);
	assert_int_equal(rs_features_decode("6.12.1", 1ull << 63, &names, &nr), -ENOENT);
}

/* ---- this machine */

static void test_live(void **state)
{
	const struct resched_host_task *self;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	unsigned int i;

	(void)state;
	assert_int_equal(resched_host_read(&host, &err), 0);
	assert_non_null(host->kernel);
	assert_true(host->nr_cpus >= 1);
	assert_true(host->taken_ns > 0);
	self = resched_host_task(host, (int)getpid());
	assert_non_null(self);
	assert_int_equal(self->tgid, getpid());
	assert_int_equal(self->nice, getpriority(PRIO_PROCESS, 0));
	for (i = 1; i < host->nr_tasks; i++)
		assert_true(host->tasks[i - 1].pid < host->tasks[i].pid);
	resched_host_free(host);
}

struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* A slice of its own and an affinity of its own show, where this kernel has them. */
static void test_live_slice_and_affinity(void **state)
{
	struct attr attr = { .size = sizeof(attr), .runtime = 3300000 };
	struct resched_host *host = NULL;
	const struct resched_host_task *self;
	int major = 0, minor = 0;
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	attr.nice = getpriority(PRIO_PROCESS, 0);
	assert_int_equal(syscall(SYS_sched_setattr, 0, &attr, 0), 0);
	assert_int_equal(resched_host_read(&host, NULL), 0);
	self = resched_host_task(host, (int)getpid());
	assert_non_null(self);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		assert_int_equal(atoi(self->affinity), sched_getcpu());
	assert_int_equal(sscanf(host->kernel, "%d.%d", &major, &minor), 2);
	if ((major > 6 || (major == 6 && minor >= 12)) && resched_host_tunable(host, "base_slice_ns"))
		assert_int_equal(self->slice_ns, 3300000);
	resched_host_free(host);
	attr.runtime = 0;
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
	(void)sched_setaffinity(0, sizeof(before), &before);
}

#define on_root(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_root(test_kernel),
		on_root(test_preempt_without_debugfs),
		on_root(test_topology),
		on_root(test_tunables),
		on_root(test_tasks_and_cgroups),
		on_root(test_cgroup_v1),
		on_root(test_empty_machine),
		on_root(test_garbage),
		cmocka_unit_test(test_debug_values),
		cmocka_unit_test(test_debug_slices), cmocka_unit_test(test_debug_newidle),
		on_root(test_debug_instead_of_files),
		cmocka_unit_test(test_feature_masks),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_live_slice_and_affinity),
	};

	return cmocka_run_group_tests_name("capture_host", tests, NULL, NULL);
}
