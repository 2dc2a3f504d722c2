// SPDX-License-Identifier: GPL-2.0-only
/* A workload, whatever it comes from: a recording, a saved workload, rt-app's JSON. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <resched/host.h>
#include <resched/rtapp.h>

enum cli_content cli_content(const char *file)
{
	char head[4096];
	struct stat st;
	ssize_t len = -1;
	int fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;

	/* What cannot be read twice is taken for a recording. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		len = pread(fd, head, sizeof(head), 0);
	if (fd > STDIN_FILENO)
		close(fd);
	if (len <= 0)
		return CLI_RECORDING;
	if (resched_workload_recognise(head, (size_t)len))
		return CLI_WORKLOAD;
	return resched_rtapp_recognise(head, (size_t)len) ? CLI_RTAPP : CLI_RECORDING;
}

static int load_recording(const struct cli_args *args, const char *file, const struct resched_host *host, struct cli_feed *feed,
			  struct cli_load *ret, struct resched_error *err)
{
	int rc;

	cli_progress_begin(&feed->progress, args, "reading");
	rc = resched_trace_open(file, &ret->trace, err);
	if (rc == 0)
		resched_trace_threads(ret->trace, -1);
	if (rc == 0 && feed->figures)
		rc = cli_analysis(args, host ? host : resched_trace_host(ret->trace), resched_trace_names(ret->trace), &feed->analysis, err);
	if (rc == 0)
		rc = resched_workload_build(ret->trace, host, cli_feed, feed, &ret->workload, err);
	cli_progress_end(&feed->progress);
	if (rc < 0 && *feed->err.text)
		*err = feed->err;
	if (ret->trace)
		ret->source = resched_trace_source(ret->trace);
	return rc;
}

void cli_load_made(struct cli_load *load, const char *file, const char *format)
{
	const struct resched_workload_info *info = resched_workload_info(load->workload);

	load->made = (struct resched_source){
		.file = file, .format = format, .kernel = resched_workload_host(load->workload)->kernel, .nr_cpus = info->nr_cpus,
		.nr_observed = info->nr_cpus, .first_ns = info->first_ns, .last_ns = info->last_ns,
	};
	load->source = &load->made;
}

int cli_load(const struct cli_args *args, const char *file, const struct resched_host *host, struct cli_feed *feed, struct cli_load *ret,
	     struct resched_error *err)
{
	enum cli_content content = cli_content(file);
	int rc;

	*ret = (struct cli_load){ .content = content };
	if (content == CLI_RECORDING)
		return load_recording(args, file, host, feed, ret, err);
	if (content == CLI_WORKLOAD && host) {
		*err = (struct resched_error){ RESCHED_USAGE, "a workload has its host inside; leave out --host, or edit the line 'host'" };
		return -EINVAL;
	}
	if (content == CLI_WORKLOAD)
		rc = resched_workload_load(file, &ret->workload, err);
	else
		rc = resched_rtapp_load(file, host, &ret->workload, err);
	if (rc == 0)
		cli_load_made(ret, file, content == CLI_WORKLOAD ? "workload 1" : "rt-app");
	return rc;
}

void cli_load_release(struct cli_load *load)
{
	resched_workload_free(load->workload);
	resched_trace_free(load->trace);
}
