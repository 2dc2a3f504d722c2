// SPDX-License-Identifier: GPL-2.0-only
#include "capture/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "capture/files.h"

#define BUFFER_KB 8192u /* a cpu: 0.3 s of 500,000 events a second */
#define BUFFER_TRUTH_KB 32768u /* rows of the kernel's state are many and large */
#define BUFFER_MIN_KB 1024u
#define BUFFER_MAX_KB 1048576u /* a cpu: what BPF can map, and far more than a reader falls behind */
#define BUFFER_SHARE 16u /* at most this part of the free memory for all cpus together */

void rs_setup_warn(struct resched_record_result *result, const char *text)
{
	unsigned int max = sizeof(result->warnings) / sizeof(result->warnings[0]);

	if (result->nr_warnings == max)
		return;
	snprintf(result->warnings[result->nr_warnings++], sizeof(result->warnings[0]), "%s", text);
}

void rs_job_warn(void *job, const char *text)
{
	rs_setup_warn(((struct rs_job *)job)->result, text);
}

double rs_cpu_seconds(void)
{
	struct rusage use;

	if (getrusage(RUSAGE_SELF, &use) < 0)
		return 0;
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* A line of /proc/meminfo; 0 = unknown. */
uint64_t rs_meminfo_kb(const char *key)
{
	char text[4096], *line;

	if (rs_file_read("/proc/meminfo", text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, key);
	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* The cpus that have buffers, and the ones asked for among them. */
static int choose_cpus(struct rs_setup *setup, struct resched_error *err)
{
	char text[4096];
	struct rs_cpuset possible;
	unsigned int i;
	int rc = rs_file_read("/sys/devices/system/cpu/possible", text, sizeof(text));

	if (rc < 0 || rs_cpulist_parse(text, &possible) < 0 || rs_cpuset_count(&possible) == 0)
		return rs_error_set(err, RESCHED_FAILED, rc < 0 ? rc : -EIO,
				    "cannot tell this machine's cpus from "
				    "'/sys/devices/system/cpu/possible'; is /sys mounted?");
	if (setup->opts->cpus) {
		if (rs_cpulist_parse(setup->opts->cpus, &setup->wanted) < 0 ||
		    rs_cpuset_count(&setup->wanted) == 0)
			return rs_error_set(err, RESCHED_USAGE, -EINVAL,
					    "bad cpu list '%s'; write it as 0-3,8",
					    setup->opts->cpus);
		for (i = 0; i < RS_MAX_CPUS; i++) {
			if (rs_cpuset_has(&setup->wanted, i) && !rs_cpuset_has(&possible, i))
				return rs_error_set(err, RESCHED_USAGE, -EINVAL,
						    "no cpu %u on this machine; it has %s", i,
						    text);
		}
	}
	setup->cpu_ids = calloc(rs_cpuset_count(&possible), sizeof(*setup->cpu_ids));
	if (!setup->cpu_ids)
		return rs_error_nomem(err);
	for (i = 0; i < RS_MAX_CPUS; i++) {
		if (rs_cpuset_has(&possible, i))
			setup->cpu_ids[setup->nr_cpus++] = i;
	}
	return 0;
}

/* A buffer that cannot be had would be made page by page until the machine has no memory left. */
static int check_buffer(const struct rs_setup *setup, struct resched_error *err)
{
	uint64_t kb = setup->opts->buffer_kb, memory_kb = rs_meminfo_kb("MemTotal:"), most_kb = BUFFER_MAX_KB;

	/* a power of two, because that is what rings of BPF are rounded up to */
	while (memory_kb && most_kb > BUFFER_MIN_KB && most_kb * setup->nr_cpus > memory_kb / 2)
		most_kb /= 2;
	if (kb <= most_kb)
		return 0;
	return rs_error_set(err, RESCHED_USAGE, -EINVAL,
			    "a buffer of %llu KiB for each of %u cpus is too large; give --buffer %lluK or less "
			    "(at most 1 GiB a cpu and half of the memory for all)",
			    (unsigned long long)kb, setup->nr_cpus, (unsigned long long)most_kb);
}

/* Half a second of a busy machine, but never more than a small part of what is free. */
static uint64_t default_buffer_kb(unsigned int nr_cpus, enum resched_detail detail)
{
	uint64_t free_kb = rs_meminfo_kb("MemAvailable:"), kb = detail == RESCHED_DETAIL_TRUTH ? BUFFER_TRUTH_KB : BUFFER_KB;

	if (free_kb && kb * nr_cpus > free_kb / BUFFER_SHARE)
		kb = free_kb / BUFFER_SHARE / nr_cpus;
	return kb < BUFFER_MIN_KB ? BUFFER_MIN_KB : kb;
}

static void note_backend(struct rs_setup *setup, const char *reason)
{
	snprintf(setup->result->backend_reason, sizeof(setup->result->backend_reason), "%.159s", reason);
}

/*
 * auto: BPF programs add the least time to a switch (half of what tracefs adds, `make bench-capture`) and leave the recorder
 * little more to do; tracefs can record any event and needs less of the kernel. The choice and its reason are told.
 */
static int pick_backend(struct rs_setup *setup, struct resched_error *err)
{
	const struct resched_record_options *opts = setup->opts;
	struct resched_error why = { 0 }, text = { 0 };
	int rc;

	if (opts->backend != RESCHED_BACKEND_AUTO) {
		setup->backend = opts->backend == RESCHED_BACKEND_BPF ? &rs_backend_bpf : &rs_backend_tracefs;
		return setup->backend->probe(opts, err);
	}
	rc = rs_backend_bpf.probe(opts, &why);
	if (rc == 0 || opts->detail == RESCHED_DETAIL_TRUTH || opts->slower_ns) {
		setup->backend = &rs_backend_bpf;
		note_backend(setup, opts->detail == RESCHED_DETAIL_TRUTH ? "only it can read the kernel's own state" :
				    opts->slower_ns			 ? "only it can pick out slow wakeups"
									 : "it adds the least time to a switch");
		if (rc < 0 && err)
			*err = why;
		return rc;
	}
	setup->backend = &rs_backend_tracefs;
	rc = rs_backend_tracefs.probe(opts, err);
	rs_error_set(&text, why.kind, 0, opts->nr_extra ? "only it can record events such as '%s'" : "no bpf: %s",
		     opts->nr_extra ? opts->extra[0] : why.text);
	note_backend(setup, text.text);
	return rc;
}

int rs_setup_cpus(struct rs_setup *setup, struct resched_error *err)
{
	int rc = choose_cpus(setup, err);

	if (rc == 0)
		rc = check_buffer(setup, err);
	setup->buffer_kb = setup->opts->buffer_kb;
	if (rc == 0 && !setup->buffer_kb)
		setup->buffer_kb = default_buffer_kb(setup->nr_cpus, setup->opts->detail);
	return rc;
}

int rs_setup_backend(struct rs_setup *setup, struct resched_error *err)
{
	bool was_mounted = rs_tracefs_mounted();
	int rc = pick_backend(setup, err);

	if (rc == 0 && !was_mounted && rs_tracefs_mounted())
		rs_setup_warn(setup->result, "mounted tracefs at /sys/kernel/tracing, where nobody had");
	return rc;
}

int rs_setup_job(const struct rs_setup *setup, struct rs_job *job, struct resched_error *err)
{
	*job = (struct rs_job){
		.opts = setup->opts, .result = setup->result, .wanted = setup->opts->cpus ? &setup->wanted : NULL,
		.nr_cpus = setup->nr_cpus, .cpu_ids = setup->cpu_ids, .buffer_kb = setup->buffer_kb,
		.stats = calloc(setup->nr_cpus, sizeof(*job->stats)),
	};
	return job->stats ? 0 : rs_error_nomem(err);
}

void rs_setup_release(struct rs_setup *setup)
{
	free(setup->cpu_ids);
	setup->cpu_ids = NULL;
}
