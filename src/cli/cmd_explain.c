// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <resched/explain.h>
#include <resched/units.h>

static int print(const struct cli_command *self, const struct cli_args *args,
		 const struct resched_source *source, const struct resched_explanation *explanation)
{
	struct resched_error err = { 0 };
	struct cli_out out;
	int rc;

	cli_out_open(self, args, 0, &out);
	rc = resched_print_explanation(out.stream, source, explanation, &out.print, &err);
	return cli_out_close(self, &out, source->damaged ? RESCHED_DAMAGED : 0, rc, &err);
}

/* With a unit it counts from the beginning; a bare number that is as large as the recording's stamps is one of them. */
static int parse_at(const char *text, struct resched_explain_options *opts)
{
	size_t len = strlen(text);

	if (resched_time_parse(text, 1000000000, &opts->at_ns) < 0)
		return -EINVAL;
	opts->at_is_relative = text[len - 1] == 's' ? 1 : -1;
	return 0;
}

static int explain(const struct cli_args *args, struct resched_trace *trace,
		   const struct resched_host *host, struct resched_explanation **ret,
		   struct resched_error *err)
{
	struct resched_whatif whatif = cli_whatif(args);
	struct resched_explain_options opts = { .cpu = (unsigned int)args->cpu,
						.host = host,
						.whatif = &whatif,
						.replayed = args->policies.nr > 0 };

	if (parse_at(args->at, &opts) < 0) {
		err->kind = RESCHED_USAGE;
		snprintf(err->text, sizeof(err->text),
			 "--at wants a time such as 1.5s, 250ms or a stamp of the recording, not '%s'",
			 args->at);
		return -EINVAL;
	}
	return resched_explain(trace, &opts, ret, err);
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = cli_input(self, args);
	struct resched_explanation *explanation = NULL;
	struct resched_trace *trace = NULL;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	int code, rc;

	if (!file)
		return RESCHED_USAGE;
	if (!args->at)
		return cli_usage(self, "which instant? --at TIME, for example --at 1.5s");
	if (args->policies.nr > 1)
		return cli_usage(self, "one --policy at a time");
	if (args->cpu > UINT_MAX)
		return cli_usage(self, "--cpu %llu is no cpu", (unsigned long long)args->cpu);
	code = cli_load_host(self, args, &host);
	if (code)
		return code;
	rc = resched_trace_open(file, &trace, &err);
	if (rc == 0)
		rc = explain(args, trace, host, &explanation, &err);
	if (rc == 0)
		cli_warn_source(self, args, resched_trace_source(trace));
	code = rc < 0 ? cli_fail_source(self, args, trace ? resched_trace_source(trace) : NULL, &err)
		      : print(self, args, resched_trace_source(trace), explanation);
	resched_explanation_free(explanation);
	resched_trace_free(trace);
	resched_host_free(host);
	return code;
}

static const struct cli_option own[] = {
	{ "--at", 0, "TIME", CLI_TEXT, offsetof(struct cli_args, at),
	  "the instant: since the recording began (1.5s, 250ms), or one of its stamps in seconds" },
	{ "--cpu", 'C', "N", CLI_NUMBER, offsetof(struct cli_args, cpu),
	  "whose run queue (default: 0)" },
};
static const struct cli_group own_group = { "Explain", sizeof(own) / sizeof(own[0]), own };

const struct cli_command cli_explain = {
	.name = "explain",
	.usage = "explain --at TIME [--cpu N] [OPTIONS] [FILE]",
	.summary = "The run queue at an instant: who is due, who runs next, and why",
	.text = "Without --policy it is the recorded schedule; with it the workload is run again and "
		"looked at in that run.",
	.nr_groups = 4,
	.groups = { &own_group, &cli_whatif_options, &cli_input_options, &cli_output_options },
	.run = run,
};
