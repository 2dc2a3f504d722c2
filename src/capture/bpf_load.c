// SPDX-License-Identifier: GPL-2.0-only
#include "capture/bpf_load.h"

#include <errno.h>

#include "base/error.h"

#ifndef RESCHED_HAVE_BPF

int rs_bpf_check(const struct resched_record_options *opts, struct resched_error *err)
{
	(void)opts;
	return rs_error_set(err, RESCHED_FAILED, -ENOSYS,
			    "this resched was built without the bpf backend: building it needs clang, bpftool and libbpf-dev");
}

int rs_bpf_load(struct rs_bpf_programs **ret, const struct resched_record_options *opts, const struct rs_cpuset *wanted,
		unsigned int nr_cpus, const unsigned int *cpu_ids, uint64_t ring_bytes, int *ret_fds, rs_warn_fn warn, void *warn_ctx,
		struct resched_error *err)
{
	(void)ret, (void)wanted, (void)nr_cpus, (void)cpu_ids, (void)ring_bytes, (void)ret_fds, (void)warn, (void)warn_ctx;
	return rs_bpf_check(opts, err);
}

int rs_bpf_follow(struct rs_bpf_programs *programs, unsigned int nr_pids, const int *pids)
{
	(void)programs, (void)nr_pids, (void)pids;
	return -ENOSYS;
}

const char *rs_bpf_shed(struct rs_bpf_programs *programs, enum resched_detail detail, unsigned int step)
{
	(void)programs, (void)detail, (void)step;
	return NULL;
}

int rs_bpf_attach(struct rs_bpf_programs *programs, struct resched_error *err)
{
	(void)programs;
	return rs_bpf_check(NULL, err);
}

void rs_bpf_record(struct rs_bpf_programs *programs, bool on)
{
	(void)programs, (void)on;
}

int rs_bpf_each_task(struct rs_bpf_programs *programs, int (*name)(void *ctx, const struct rs_bpf_name *name), void *ctx,
		     struct resched_error *err)
{
	(void)programs, (void)name, (void)ctx;
	return rs_bpf_check(NULL, err);
}

void rs_bpf_losses(const struct rs_bpf_programs *programs, unsigned int cpu, uint64_t *ret_all, uint64_t *ret_untold)
{
	(void)programs, (void)cpu;
	*ret_all = *ret_untold = 0;
}

void rs_bpf_unload(struct rs_bpf_programs *programs)
{
	(void)programs;
}

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/capability.h>

#include "capture/bpf_glob.h"

#include "capture/resched.skel.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define LOG_BYTES (64u << 10)

/* <linux/capability.h> of older systems does not know these */
#define NR_CAP_SYS_ADMIN 21
#define NR_CAP_SYS_RESOURCE 24
#define NR_CAP_PERFMON 38
#define NR_CAP_BPF 39

struct rs_bpf_programs { struct resched_bpf *skel; };

/* libbpf tells the world on standard error unless told not to; a library must not. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* ---- what the kernel's type information says */

static const struct btf_type *peel(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static const struct btf_type *find_struct(const struct btf *btf, const char *name)
{
	__s32 id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
}

/* Also within members without a name. */
static bool has_member(const struct btf *btf, const struct btf_type *t, const char *name)
{
	const struct btf_member *m;
	unsigned int i;

	if (!t || !btf_is_composite(t))
		return false;
	m = btf_members(t);
	for (i = 0; i < btf_vlen(t); i++) {
		const char *text = btf__name_by_offset(btf, m[i].name_off);

		if (text && *text ? strcmp(text, name) == 0 : has_member(btf, peel(btf, m[i].type), name))
			return true;
	}
	return false;
}

static bool struct_has(const struct btf *btf, const char *name, const char *member)
{
	return has_member(btf, find_struct(btf, name), member);
}

/* The arguments of a tracepoint without the leading context: a letter each, 't' task, 'n' number, 'p' other pointer. */
static bool prototype(const struct btf *btf, const char *event, char *ret, size_t size)
{
	char name[96];
	const struct btf_type *t;
	const struct btf_param *p;
	unsigned int i, n = 0;
	__s32 id;

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	t = id < 0 ? NULL : peel(btf, (__u32)id);
	if (t && btf_is_ptr(t))
		t = peel(btf, t->type);
	if (!t || !btf_is_func_proto(t))
		return false;
	p = btf_params(t);
	for (i = 1; i < btf_vlen(t) && n + 1 < size; i++) {
		const struct btf_type *arg = peel(btf, p[i].type);
		const struct btf_type *to = arg && btf_is_ptr(arg) ? peel(btf, arg->type) : NULL;
		const char *text = to ? btf__name_by_offset(btf, to->name_off) : NULL;

		ret[n++] = !arg || !btf_is_ptr(arg) ? 'n' : text && strcmp(text, "task_struct") == 0 ? 't' : 'p';
	}
	ret[n] = '\0';
	return true;
}

/* What each program takes its arguments for: up to two prototypes are known. */
static const struct {
	const char *event, *known[2];
} tracepoints[] = {
	{ "sched_switch", { "nttn", "ntt" } },
	{ "sched_waking", { "t", NULL } },
	{ "sched_wakeup", { "t", NULL } },
	{ "sched_wakeup_new", { "t", NULL } },
	{ "sched_stat_runtime", { "tn", "tnn" } },
	{ "sched_migrate_task", { "tn", NULL } },
	{ "sched_process_fork", { "tt", NULL } },
	{ "sched_process_exec", { "tnp", NULL } },
	{ "sched_process_exit", { "tn", "t" } },
	{ "sched_pi_setprio", { "tt", NULL } },
	{ "task_rename", { "tp", NULL } },
};

/* Without these there is no record worth having. */
static const struct { const char *type, *member; } needed[] = {
	{ "task_struct", "pid" }, { "task_struct", "prio" }, { "task_struct", "normal_prio" }, { "task_struct", "comm" },
	{ "task_struct", "se" }, { "task_struct", "policy" }, { "task_struct", "exit_state" }, { "task_struct", "signal" },
	{ "signal_struct", "oom_score_adj" }, { "linux_binprm", "filename" }, { "sched_entity", "sum_exec_runtime" },
	{ "sched_entity", "vruntime" }, { "sched_entity", "exec_start" }, { "sched_entity", "load" }, { "sched_entity", "on_rq" },
	{ "load_weight", "weight" },
};

static int check_tracepoints(const struct btf *btf, struct resched_error *err)
{
	char args[16];
	size_t i;

	for (i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]); i++) {
		if (!prototype(btf, tracepoints[i].event, args, sizeof(args)))
			return rs_error_set(err, RESCHED_FAILED, -ENODEV,
					    "this kernel has no tracepoint '%s' that BPF can use; record with --backend tracefs",
					    tracepoints[i].event);
		if (strcmp(args, tracepoints[i].known[0]) == 0 ||
		    (tracepoints[i].known[1] && strcmp(args, tracepoints[i].known[1]) == 0))
			continue;
		return rs_error_set(err, RESCHED_FAILED, -ENODEV,
				    "the tracepoint '%s' of this kernel has other arguments (%s) than this version knows (%s); "
				    "record with --backend tracefs",
				    tracepoints[i].event, args, tracepoints[i].known[0]);
	}
	return 0;
}

static int check_fields(const struct btf *btf, struct resched_error *err)
{
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!struct_has(btf, needed[i].type, needed[i].member))
			return rs_error_set(err, RESCHED_FAILED, -ENODEV,
					    "this kernel's struct %s has no field '%s', which the BPF programs need; "
					    "record with --backend tracefs",
					    needed[i].type, needed[i].member);
	}
	return 0;
}

/* What truth rows lack here, for one line of warning. */
static void warn_missing(const struct btf *btf, rs_warn_fn warn, void *ctx)
{
	char text[160];

	if (!struct_has(btf, "sched_entity", "vlag"))
		warn(ctx, "this kernel is older than EEVDF: truth rows have no deadline, slice and vlag");
	else if (!struct_has(btf, "sched_entity", "sched_delayed"))
		warn(ctx, "this kernel has no sched_entity.sched_delayed: truth rows say 0 for delayed, rel and custom");
	if (!struct_has(btf, "sched_entity", "cfs_rq"))
		warn(ctx, "this kernel has no group scheduling (sched_entity.cfs_rq): truth rows say nothing about queues");
	else if (!struct_has(btf, "cfs_rq", "zero_vruntime") && !struct_has(btf, "cfs_rq", "min_vruntime"))
		warn(ctx, "this kernel's cfs_rq has neither zero_vruntime nor min_vruntime: truth rows have z 0");
	if (struct_has(btf, "sched_entity", "vlag") && !struct_has(btf, "cfs_rq", "sum_w_vruntime") &&
	    !struct_has(btf, "cfs_rq", "avg_vruntime")) {
		snprintf(text, sizeof(text), "this kernel's cfs_rq has neither sum_w_vruntime nor avg_vruntime: truth rows cannot give V");
		warn(ctx, text);
	}
}

static bool find_percpu(const struct btf *btf, const char *name, __s64 *ret)
{
	__s32 sec_id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *sec = sec_id < 0 ? NULL : btf__type_by_id(btf, (__u32)sec_id);
	const struct btf_var_secinfo *v = sec ? btf_var_secinfos(sec) : NULL;
	unsigned int i;

	for (i = 0; sec && i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(btf, v[i].type);
		const char *text = var ? btf__name_by_offset(btf, var->name_off) : NULL;

		if (text && strcmp(text, name) == 0) {
			*ret = v[i].offset;
			return true;
		}
	}
	return false;
}

static bool find_offset(const struct btf *btf, const char *type, const char *member, __s64 *ret)
{
	const struct btf_type *t = find_struct(btf, type);
	const struct btf_member *m = t ? btf_members(t) : NULL;
	unsigned int i;

	for (i = 0; t && i < btf_vlen(t); i++) {
		const char *text = btf__name_by_offset(btf, m[i].name_off);

		if (text && strcmp(text, member) == 0) {
			*ret = btf_member_bit_offset(t, i) / 8;
			return true;
		}
		/* pcpu_hot keeps its members in a struct without a name within a union without one */
		if (text && !*text) {
			const struct btf_type *in = peel(btf, m[i].type);
			unsigned int k;

			for (k = 0; in && btf_is_composite(in) && k < btf_vlen(in); k++) {
				const struct btf_type *deep = peel(btf, btf_members(in)[k].type);
				unsigned int j;

				for (j = 0; deep && btf_is_composite(deep) && j < btf_vlen(deep); j++) {
					text = btf__name_by_offset(btf, btf_members(deep)[j].name_off);
					if (text && strcmp(text, member) == 0) {
						*ret = (btf_member_bit_offset(t, i) + btf_member_bit_offset(in, k) +
							btf_member_bit_offset(deep, j)) / 8;
						return true;
					}
				}
			}
		}
	}
	return false;
}

/* x86: the way from a cpu's run queue to its preempt count. 0: there is none. */
static __s64 preempt_count_place(const struct btf *btf)
{
	__s64 rq, var, member = 0;

	if (!find_percpu(btf, "runqueues", &rq))
		return 0;
	if (find_percpu(btf, "__preempt_count", &var))
		return var - rq;
	if (find_percpu(btf, "pcpu_hot", &var) && find_offset(btf, "pcpu_hot", "preempt_count", &member))
		return var + member - rq;
	return 0;
}

/* ---- permission */

static bool has_cap(unsigned int nr)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	return data[nr / 32].effective >> (nr % 32) & 1;
}

static int check_capabilities(struct resched_error *err)
{
	bool bpf = has_cap(NR_CAP_BPF), perfmon = has_cap(NR_CAP_PERFMON);

	if (has_cap(NR_CAP_SYS_ADMIN) || (bpf && perfmon))
		return 0;
	return rs_error_set(err, RESCHED_DENIED, -EPERM,
			    "the bpf backend needs %s%s%s; run as root, or grant it once with 'setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep "
			    "PROGRAM'",
			    bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON");
}

/* All capabilities are there and the kernel says no: what else it can be. */
static int refused(struct resched_error *err, int rc, const char *what)
{
	if (rc == -EPERM && !has_cap(NR_CAP_SYS_RESOURCE) && !has_cap(NR_CAP_SYS_ADMIN))
		return rs_error_set(err, RESCHED_DENIED, rc,
				    "the kernel refused %s: before Linux 5.11 BPF memory counts against the limit of locked memory; "
				    "raise it with 'ulimit -l unlimited' or grant CAP_SYS_RESOURCE",
				    what);
	if (rc == -EPERM || rc == -EACCES)
		return rs_error_set(err, RESCHED_DENIED, rc,
				    "the kernel refused %s: a container's seccomp filter, or lockdown 'confidentiality' "
				    "(see /sys/kernel/security/lockdown); record with --backend tracefs",
				    what);
	return rs_error_set(err, RESCHED_FAILED, rc, "cannot %s:", what);
}

static int load_btf(struct btf **ret, struct resched_error *err)
{
	long rc;

	if (access(BTF_PATH, R_OK) < 0)
		return rs_error_set(err, RESCHED_FAILED, -ENODEV,
				    "no type information of this kernel at '" BTF_PATH "' (%s); the bpf backend needs CONFIG_DEBUG_INFO_BTF: "
				    "record with --backend tracefs",
				    strerror(errno));
	*ret = btf__load_vmlinux_btf();
	rc = libbpf_get_error(*ret);
	if (!*ret || rc)
		return rs_error_set(err, RESCHED_FAILED, -ENODEV, "cannot read the kernel's type information at '" BTF_PATH "'; "
				    "record with --backend tracefs");
	return 0;
}

/* The ring buffer and iterators over tasks came with 5.8. */
static int check_kernel(struct resched_error *err)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "resched_probe", 0, 0, (__u32)sysconf(_SC_PAGESIZE), NULL);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (fd == -EINVAL)
		return rs_error_set(err, RESCHED_FAILED, -ENODEV,
				    "this kernel has no BPF ring buffer (Linux 5.8); record with --backend tracefs");
	if (fd == -ENOSYS)
		return rs_error_set(err, RESCHED_FAILED, -ENODEV, "this kernel was built without BPF (CONFIG_BPF_SYSCALL); record with --backend tracefs");
	return refused(err, fd, "make a BPF ring buffer");
}

int rs_bpf_check(const struct resched_record_options *opts, struct resched_error *err)
{
	libbpf_print_fn_t before;
	struct btf *btf = NULL;
	int rc;

	if (opts->nr_extra)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL,
				    "the bpf backend records the scheduler's events only; '%s' needs --backend tracefs", opts->extra[0]);
	if (opts->nr_comms > RS_BPF_GLOBS)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "at most %d names can be followed; join them to a glob, as in '[ab]*'", RS_BPF_GLOBS);
	before = libbpf_set_print(say_nothing);
	rc = check_capabilities(err);
	if (rc == 0)
		rc = check_kernel(err);
	if (rc == 0)
		rc = load_btf(&btf, err);
	if (rc == 0)
		rc = check_tracepoints(btf, err);
	if (rc == 0)
		rc = check_fields(btf, err);
	btf__free(btf);
	libbpf_set_print(before);
	return rc;
}

/* ---- loading */

static unsigned int ring_slots(unsigned int nr_cpus, const unsigned int *cpu_ids)
{
	unsigned int most = 0, i;

	for (i = 0; i < nr_cpus; i++) {
		if (cpu_ids[i] > most)
			most = cpu_ids[i];
	}
	return most + 1;
}

static void configure(struct resched_bpf *skel, const struct resched_record_options *opts, const struct rs_cpuset *wanted,
		      unsigned int nr_cpus, const struct btf *btf)
{
	char args[16];
	unsigned int i;

	skel->rodata->want_truth = opts->detail == RESCHED_DETAIL_TRUTH;
	skel->rodata->want_run = opts->detail == RESCHED_DETAIL_NORMAL;
	skel->rodata->filter_pids = opts->nr_pids || opts->nr_comms || opts->nr_cgroups;
	for (i = 0; i < opts->nr_comms && i < RS_BPF_GLOBS; i++)
		rs_bpf_glob_compile((struct rs_bpf_glob *)&skel->rodata->globs[i], opts->comms[i]);
	skel->rodata->nr_globs = i;
	skel->rodata->nr_cpus = nr_cpus;
	skel->rodata->want_start = opts->detail != RESCHED_DETAIL_MINIMAL;
	skel->rodata->filter_cpus = wanted != NULL;
	for (i = 0; wanted && i < RS_BPF_MAX_CPUS; i++) {
		if (rs_cpuset_has(wanted, i))
			skel->rodata->cpus[i / 64] |= 1ull << (i % 64);
	}
	skel->rodata->switch_tells_state = prototype(btf, "sched_switch", args, sizeof(args)) && strlen(args) == 4;
	skel->rodata->exit_tells_dead = prototype(btf, "sched_process_exit", args, sizeof(args)) && strlen(args) == 2;
	skel->rodata->count_from_rq = preempt_count_place(btf);
	bpf_program__set_autoload(skel->progs.on_runtime, opts->detail >= RESCHED_DETAIL_PRECISE);
}

static int make_rings(struct resched_bpf *skel, unsigned int nr_cpus, const unsigned int *cpu_ids, uint64_t bytes, int *fds,
		      struct resched_error *err)
{
	int outer = bpf_map__fd(skel->maps.rings);
	unsigned int i;

	for (i = 0; i < nr_cpus; i++) {
		fds[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "resched_ring", 0, 0, (__u32)bytes, NULL);
		if (fds[i] == -ENOMEM || fds[i] == -E2BIG || fds[i] == -EINVAL)
			return rs_error_set(err, RESCHED_FAILED, fds[i], "cannot get ring buffers of %llu KiB a cpu; ask for less with --buffer (%s)",
					    (unsigned long long)bytes >> 10, strerror(-fds[i]));
		if (fds[i] < 0)
			return refused(err, fds[i], "make a BPF ring buffer");
		if (bpf_map_update_elem(outer, &cpu_ids[i], &fds[i], BPF_ANY) < 0)
			return refused(err, -errno, "give a cpu its ring buffer");
	}
	return 0;
}

/* The verifier's last words, on one line. */
static void last_words(const char *log, char *ret, size_t size)
{
	const char *end = log + strlen(log), *line;
	int back = 0;
	size_t n = 0;

	/* the last line counts instructions, the one before names the trouble */
	for (line = end; line > log && back < 3; line--)
		back += line[-1] == '\n';
	if (back == 3)
		line++;
	while (*line && *line != '\n' && n + 1 < size)
		ret[n++] = *line++;
	ret[n] = '\0';
}

static int load(struct resched_bpf *skel, const char *log, struct resched_error *err)
{
	int rc = resched_bpf__load(skel);
	char words[160];

	if (rc == 0)
		return 0;
	if (rc == -EPERM || rc == -ENOMEM)
		return refused(err, rc, "load the BPF programs");
	last_words(log, words, sizeof(words));
	return rs_error_set(err, RESCHED_FAILED, rc, "this kernel did not take the BPF programs (%s: %s); record with --backend tracefs",
			    strerror(-rc), *words ? words : "no reason given");
}

int rs_bpf_load(struct rs_bpf_programs **ret, const struct resched_record_options *opts, const struct rs_cpuset *wanted,
		unsigned int nr_cpus, const unsigned int *cpu_ids, uint64_t ring_bytes, int *ret_fds, rs_warn_fn warn, void *warn_ctx,
		struct resched_error *err)
{
	libbpf_print_fn_t before = libbpf_set_print(say_nothing);
	struct rs_bpf_programs *programs = calloc(1, sizeof(*programs));
	char *log = calloc(1, LOG_BYTES);
	LIBBPF_OPTS(bpf_object_open_opts, open_opts, .kernel_log_buf = log, .kernel_log_size = LOG_BYTES);
	struct btf *btf = NULL;
	int rc = programs && log ? load_btf(&btf, err) : rs_error_nomem(err);

	if (rc == 0) {
		programs->skel = resched_bpf__open_opts(&open_opts);
		if (!programs->skel)
			rc = rs_error_set(err, RESCHED_FAILED, -errno, "cannot open the BPF programs:");
	}
	if (rc == 0) {
		configure(programs->skel, opts, wanted, ring_slots(nr_cpus, cpu_ids), btf);
		if (opts->detail == RESCHED_DETAIL_TRUTH)
			warn_missing(btf, warn, warn_ctx);
		bpf_map__set_max_entries(programs->skel->maps.rings, ring_slots(nr_cpus, cpu_ids));
		rc = load(programs->skel, log, err);
	}
	if (rc == 0)
		rc = make_rings(programs->skel, nr_cpus, cpu_ids, ring_bytes, ret_fds, err);
	btf__free(btf);
	free(log);
	libbpf_set_print(before);
	if (rc < 0) {
		rs_bpf_unload(programs);
		return rc;
	}
	*ret = programs;
	return 0;
}

int rs_bpf_follow(struct rs_bpf_programs *programs, unsigned int nr_pids, const int *pids)
{
	unsigned char one = 1;
	unsigned int i;

	for (i = 0; i < nr_pids; i++) {
		if (bpf_map_update_elem(bpf_map__fd(programs->skel->maps.pids), &pids[i], &one, BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}

const char *rs_bpf_shed(struct rs_bpf_programs *programs, enum resched_detail detail, unsigned int step)
{
	if (step == 0 && detail == RESCHED_DETAIL_TRUTH) {
		programs->skel->bss->shed_rows = true;
		return "rows of the kernel's state";
	}
	step -= detail == RESCHED_DETAIL_TRUTH;
	if (step == 0 && detail >= RESCHED_DETAIL_PRECISE) {
		programs->skel->bss->shed_runtime = true;
		return "run times";
	}
	step -= detail >= RESCHED_DETAIL_PRECISE;
	if (step == 0) {
		programs->skel->bss->shed_wakeup = true;
		return "sched_wakeup";
	}
	return NULL;
}

int rs_bpf_attach(struct rs_bpf_programs *programs, struct resched_error *err)
{
	libbpf_print_fn_t before = libbpf_set_print(say_nothing);
	int rc = resched_bpf__attach(programs->skel);

	libbpf_set_print(before);
	return rc < 0 ? refused(err, rc, "attach the BPF programs to the tracepoints") : 0;
}

void rs_bpf_record(struct rs_bpf_programs *programs, bool on)
{
	__atomic_store_n(&programs->skel->bss->recording, on, __ATOMIC_RELEASE);
}

int rs_bpf_each_task(struct rs_bpf_programs *programs, int (*name)(void *ctx, const struct rs_bpf_name *name), void *ctx,
		     struct resched_error *err)
{
	struct rs_bpf_name names[256];
	int fd = bpf_iter_create(bpf_link__fd(programs->skel->links.each_task)), rc = 0;
	ssize_t n = 0;
	size_t have = 0;

	if (fd < 0)
		return refused(err, -errno, "iterate over the tasks");
	while (rc == 0) {
		size_t i, whole;

		n = read(fd, (char *)names + have, sizeof(names) - have);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
		whole = have / sizeof(names[0]);
		for (i = 0; i < whole && rc == 0; i++)
			rc = name(ctx, &names[i]);
		have -= whole * sizeof(names[0]);
		memmove(names, (char *)names + whole * sizeof(names[0]), have);
	}
	if (n < 0)
		rc = refused(err, -errno, "iterate over the tasks");
	else if (rc < 0)
		rs_error_nomem(err);
	close(fd);
	return rc;
}

void rs_bpf_losses(const struct rs_bpf_programs *programs, unsigned int cpu, uint64_t *ret_all, uint64_t *ret_untold)
{
	const struct rs_bpf_cpu *state = &programs->skel->bss->cpu_states[cpu % RS_BPF_MAX_CPUS];

	*ret_all = __atomic_load_n(&state->total_lost, __ATOMIC_RELAXED);
	*ret_untold = __atomic_load_n(&state->lost, __ATOMIC_RELAXED);
}

void rs_bpf_unload(struct rs_bpf_programs *programs)
{
	libbpf_print_fn_t before;

	if (!programs)
		return;
	before = libbpf_set_print(say_nothing);
	resched_bpf__destroy(programs->skel);
	libbpf_set_print(before);
	free(programs);
}

#endif
