// SPDX-License-Identifier: GPL-2.0-only
/* Prometheus text exposition format, 0.0.4: base units, _total on counters, cumulative histogram buckets. */
#include "daemon/daemon.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LABEL_MOST (CONFIG_TEXT * 2)

static void head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP resched_%s %s\n# TYPE resched_%s %s\n", name, help, name, type);
}

static void counter(FILE *out, const char *name, const char *help, uint64_t value)
{
	head(out, name, "counter", help);
	fprintf(out, "resched_%s %" PRIu64 "\n", name, value);
}

static void gauge(FILE *out, const char *name, const char *help, double value)
{
	head(out, name, "gauge", help);
	fprintf(out, "resched_%s %.15g\n", name, value);
}

static void seconds(FILE *out, const char *name, const char *help, double value)
{
	head(out, name, "counter", help);
	fprintf(out, "resched_%s %.9g\n", name, value);
}

/* Backslash, quote and line break have to be escaped in a label; what is no printable ASCII is not worth keeping. */
static const char *label(const char *text, char *ret)
{
	char *to = ret;

	for (const char *p = text; *p && to < ret + LABEL_MOST - 3; p++) {
		if (*p == '"' || *p == '\\')
			*to++ = '\\';
		*to++ = *p >= 0x20 && *p < 0x7f ? *p : '?';
	}
	*to = '\0';
	return ret;
}

static void histogram(FILE *out, const char *name, const char *cgroup, const struct cumulative *total)
{
	uint64_t sum = 0;

	for (unsigned int b = 0; b < CUMULATIVE_BUCKETS; b++) {
		sum += total->buckets[b];
		if (cumulative_bound(b) == UINT64_MAX)
			fprintf(out, "resched_%s_bucket{cgroup=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, cgroup, sum);
		else
			fprintf(out, "resched_%s_bucket{cgroup=\"%s\",le=\"%g\"} %" PRIu64 "\n", name, cgroup, (double)cumulative_bound(b) / 1e9, sum);
	}
	fprintf(out, "resched_%s_sum{cgroup=\"%s\"} %.9f\nresched_%s_count{cgroup=\"%s\"} %" PRIu64 "\n", name, cgroup,
		(double)total->sum_ns / 1e9, name, cgroup, total->count);
}

static void latencies(FILE *out, const struct cgroups *cgroups)
{
	char text[LABEL_MOST];

	head(out, "wakeup_latency_seconds", "histogram", "Time from waking to running; cgroup \"(host)\" is all tasks.");
	for (uint32_t i = 0; i < cgroups->nr; i++)
		histogram(out, "wakeup_latency_seconds", label(cgroups->items[i].path, text), &cgroups->items[i].total_wake);
	head(out, "run_delay_seconds", "histogram", "Time runnable and not running, by wait; cgroup \"(host)\" is all tasks.");
	for (uint32_t i = 0; i < cgroups->nr; i++)
		histogram(out, "run_delay_seconds", label(cgroups->items[i].path, text), &cgroups->items[i].total_delay);
}

static void recorder(FILE *out, struct daemon *d)
{
	struct resched_flight_stats stats = { 0 };
	struct resched_waits_stats waits;

	resched_waits_stats(d->watch.waits, &waits);
	if (d->recorder.flight)
		resched_flight_stats(d->recorder.flight, &stats);
	gauge(out, "recorder_up", "1 while the flight recorder records.", d->recorder.flight != NULL);
	counter(out, "recorder_events_total", "Events recorded.", d->recorder.events_base + stats.events);
	counter(out, "recorder_lost_events_total", "Events lost by the kernel's buffers.", d->recorder.lost_base + stats.lost_events);
	gauge(out, "recorder_memory_bytes", "Memory for recorded events.", (double)stats.ring_bytes);
	gauge(out, "recorder_kept_bytes", "Recorded events that are kept.", (double)stats.kept_bytes);
	gauge(out, "recorder_kept_seconds", "How far back the kept events reach.", (double)(stats.newest_ns - stats.oldest_ns) / 1e9);
	counter(out, "recorder_restarts_total", "Times the recorder failed and was started again.", d->recorder.restarts);
	seconds(out, "watch_paused_seconds_total", "Time in which waits were not watched, to keep the cpu budget.", d->recorder.paused_s);
	counter(out, "watch_losses_total", "Times that the watch lost events.", waits.losses);
	gauge(out, "watch_tasks", "Tasks followed.", waits.nr_tasks);
	counter(out, "watch_tasks_not_followed_total", "Times there was no room to follow a task.", waits.untracked);
	gauge(out, "watch_cgroups", "Cgroups with figures of their own.", d->watch.cgroups.nr - CGROUP_FIRST);
}

static void triggers(FILE *out, const struct triggers *triggers)
{
	head(out, "triggers_total", "counter", "Times a trigger fired.");
	for (unsigned int i = 0; i < triggers->nr; i++)
		fprintf(out, "resched_triggers_total{trigger=\"%s\"} %" PRIu64 "\n", triggers->items[i].config->name, triggers->items[i].fired);
	head(out, "triggers_suppressed_total", "counter", "Times a trigger would have fired within its cooldown.");
	for (unsigned int i = 0; i < triggers->nr; i++)
		fprintf(out, "resched_triggers_suppressed_total{trigger=\"%s\"} %" PRIu64 "\n", triggers->items[i].config->name,
			triggers->items[i].suppressed);
}

static void store(FILE *out, const struct daemon *d)
{
	gauge(out, "store_usable", "1 while snapshots can be stored.", d->store.ready);
	gauge(out, "store_snapshots", "Snapshots stored.", d->store.nr);
	gauge(out, "store_bytes", "Size of all stored snapshots.", (double)d->store.bytes);
	counter(out, "snapshots_total", "Snapshots written.", d->store.count.written);
	counter(out, "snapshots_failed_total", "Snapshots that could not be written.", d->store.count.failed);
	counter(out, "snapshots_removed_total", "Snapshots removed by retention or on request.", d->store.count.removed);
	counter(out, "firings_merged_total", "Firings that became part of a snapshot being taken.", d->count.merged);
	counter(out, "firings_skipped_total", "Firings for which no snapshot could be taken.", d->count.skipped);
}

static void whatifs(FILE *out, const struct jobs *jobs)
{
	uint64_t all = 0;

	head(out, "whatif_runs_total", "counter", "What-ifs by how they ended.");
	for (int i = 0; i < JOB_NR_ENDS; i++) {
		all += jobs->ended[i];
		fprintf(out, "resched_whatif_runs_total{result=\"%s\"} %" PRIu64 "\n", job_end_name((enum job_end)i), jobs->ended[i]);
	}
	gauge(out, "whatif_running", "What-ifs that run.", jobs->nr_running);
	gauge(out, "whatif_waiting", "What-ifs that wait.", jobs->nr_waiting);
	head(out, "whatif_duration_seconds", "summary", "Time that what-ifs took.");
	fprintf(out, "resched_whatif_duration_seconds_sum %.9g\nresched_whatif_duration_seconds_count %" PRIu64 "\n", jobs->seconds, all);
}

static void clients(FILE *out, const struct server *s)
{
	gauge(out, "clients", "Connections to the control socket.", s->nr_clients);
	counter(out, "connections_total", "Connections accepted.", s->count.connections);
	counter(out, "connections_denied_total", "Connections of peers without rights.", s->count.denied);
	counter(out, "connections_refused_total", "Connections above the limit.", s->count.refused);
	counter(out, "connections_closed_total", "Connections closed for being idle, slow or stuck.", s->count.closed_slow);
	counter(out, "requests_total", "Requests read.", s->count.requests);
	counter(out, "requests_malformed_total", "Requests that were no JSON object or too long.", s->count.malformed);
}

static unsigned int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int nr = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr > 3 ? nr - 3 : 0;	/* ".", ".." and the folder itself */
}

static double resident_bytes(void)
{
	unsigned long long size = 0, resident = 0;
	FILE *in = fopen("/proc/self/statm", "re");

	if (in && fscanf(in, "%llu %llu", &size, &resident) != 2)	/* NOLINT(cert-err34-c): the kernel's own text */
		resident = 0;
	if (in)
		fclose(in);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void process(FILE *out, const struct daemon *d)
{
	head(out, "build_info", "gauge", "Always 1; the version is a label.");
	fprintf(out, "resched_build_info{version=\"%s\"} 1\n", RESCHED_VERSION);
	seconds(out, "cpu_seconds_total", "Cpu time of the daemon with its recorder, without workers.", d->cpu_s);
	gauge(out, "cpu_budget_ratio", "Share of one cpu that the daemon may take.", d->config->cpu_budget / 100);
	gauge(out, "resident_memory_bytes", "Resident memory of the daemon.", resident_bytes());
	gauge(out, "open_fds", "Descriptors the daemon has open.", open_fds());
	seconds(out, "uptime_seconds_total", "Time since the daemon started, suspends included.", (double)(loop_now_ns() - d->started_ns) / 1e9);
}

char *metrics_text(struct daemon *d, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	if (!out)
		return NULL;
	process(out, d);
	recorder(out, d);
	triggers(out, &d->triggers);
	store(out, d);
	whatifs(out, &d->jobs);
	clients(out, &d->server);
	latencies(out, &d->watch.cgroups);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void metrics_write(struct daemon *d)
{
	size_t len;
	char *text;
	int rc;

	if (!*d->config->textfile)
		return;
	text = metrics_text(d, &len);
	if (!text)
		return;
	rc = file_replace(d->config->textfile, text, len, 0644);
	free(text);
	if (rc < 0 && !d->count.metrics_failed)	/* once until it works again */
		log_line(&d->log, LOG_WARN, "cannot write the metrics '%s': %s", d->config->textfile, strerror(-rc));
	d->count.metrics_failed = rc < 0 ? d->count.metrics_failed + 1 : 0;
}
