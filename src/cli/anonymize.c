// SPDX-License-Identifier: GPL-2.0-only
/* A recording of our own, written anew under its name with codes for the names inside. */
#include "cli/cli.h"

#include <errno.h>
#include <resched/anonymize.h>
#include <resched/writer.h>

static int copy_events(struct resched_trace *trace, struct resched_anonymizer *anonymizer, struct resched_writer *writer, struct resched_error *err)
{
	const struct resched_event *event;
	struct resched_event coded;
	int rc;

	while ((rc = resched_trace_next(trace, &event, err)) > 0) {
		const struct resched_truth *truth = resched_trace_truth(trace);

		rc = resched_anonymizer_event(anonymizer, event, &coded);
		if (rc == 0)
			rc = truth && event->type == RESCHED_EV_TRUTH ? resched_writer_truth(writer, &coded, truth) : resched_writer_event(writer, &coded);
		if (rc < 0)
			return rc;	/* the writer tells it when it finishes */
	}
	return rc;
}

int cli_anonymize(const char *file, int compress, struct resched_error *err)
{
	struct resched_writer_options opts = { .size = sizeof(opts), .compress = compress };
	struct resched_anonymizer *anonymizer = NULL;
	struct resched_writer *writer = NULL;
	struct resched_trace *trace = NULL;
	int rc = resched_trace_open(file, &trace, err), end;

	if (rc == 0)
		rc = resched_anonymizer_new(resched_trace_host(trace), resched_trace_names(trace), &anonymizer, err);
	if (rc == 0) {
		opts.nr_cpus = resched_trace_source(trace)->nr_cpus;
		rc = resched_writer_new(file, resched_anonymizer_host(anonymizer), resched_anonymizer_names(anonymizer), &opts, &writer, err);
	}
	if (rc == 0) {
		rc = copy_events(trace, anonymizer, writer, err);
		if (rc == 0 || !*err->text) {
			end = resched_writer_finish(writer, NULL, NULL, err);
			rc = rc < 0 ? rc : end;
		}
	}
	resched_writer_free(writer);
	resched_anonymizer_free(anonymizer);
	resched_trace_free(trace);
	return rc;
}
