// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"
#include "cli/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thing to ask for. */
struct question {
	const char *word, *op;
	const char *argument;		/* member that the second word fills; NULL: it takes none */
	bool is_number, is_optional;
	void (*print)(FILE *out, struct json_object *answer);	/* NULL: nothing to show */
};

static const struct question questions[] = {
	{ "status", "status", NULL, false, false, ctl_print_status },
	{ "snapshots", "snapshots", NULL, false, false, ctl_print_snapshots },
	{ "show", "show", "snapshot", true, false, ctl_print_snapshot },
	{ "snapshot", "snapshot", "reason", false, true, ctl_print_snapshot },
	{ "whatif", "whatif", "snapshot", true, true, NULL },
	{ "watch", "watch", NULL, false, false, NULL },
	{ "jobs", "jobs", NULL, false, false, ctl_print_jobs },
	{ "cancel", "cancel", "job", true, false, NULL },
	{ "series", "series", "name", false, false, ctl_print_series },
	{ "metrics", "metrics", NULL, false, false, NULL },
	{ "delete", "delete", "snapshot", true, false, NULL },
	{ "reload", "reload", NULL, false, false, NULL },
};

static const struct question *find(const char *word)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (!strcmp(questions[i].word, word))
			return &questions[i];
	}
	return NULL;
}

static void add_number(struct json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

static void add_texts(struct json_object *to, const char *name, const struct cli_texts *texts)
{
	struct json_object *list;

	if (!texts->nr)
		return;
	list = json_object_new_array();
	for (unsigned int i = 0; i < texts->nr; i++)
		json_object_array_add(list, json_object_new_string(texts->items[i]));
	json_object_object_add(to, name, list);
}

static void add_text(struct json_object *to, const char *name, const char *text)
{
	if (text)
		json_object_object_add(to, name, json_object_new_string(text));
}

static struct json_object *whatif_of(const struct cli_args *args)
{
	struct json_object *w = json_object_new_object();

	add_texts(w, "policies", &args->policies);
	add_texts(w, "feature", &args->features);
	add_texts(w, "set", &args->settings);
	add_texts(w, "task", &args->tasks);
	add_texts(w, "group", &args->cgroups);
	add_text(w, "model", args->model);
	add_text(w, "topology", args->topology);
	add_text(w, "comm", args->comm);
	add_text(w, "cgroup", args->cgroup);
	add_text(w, "placement", args->placement ? "kernel" : NULL);
	add_text(w, "report", args->report == 1 ? "report" : args->report == 2 ? "outliers" : NULL);
	add_text(w, "format", args->json ? NULL : "text");
	if (args->seed)
		add_number(w, "seed", args->seed);
	if (args->top)
		add_number(w, "top", args->top);
	return w;
}

/* The second word. Return: 0; -EINVAL with @err filled. */
static int add_argument(const struct question *q, const struct cli_args *args, struct json_object *request, struct resched_error *err)
{
	const char *word = args->words.nr > 1 ? args->words.items[1] : NULL;
	char *end;

	err->kind = RESCHED_USAGE;
	if (args->words.nr > (q->argument ? 2u : 1u))
		snprintf(err->text, sizeof(err->text), "'%s' is one word too many", args->words.items[args->words.nr - 1]);
	else if (!word && q->argument && !q->is_optional)
		snprintf(err->text, sizeof(err->text), "%s wants a word more: %s", q->word, q->argument);
	else if (word && q->is_number && (!*word || strspn(word, "0123456789") != strlen(word) || strlen(word) > 18))
		snprintf(err->text, sizeof(err->text), "'%s' is not the number of a %s", word, q->argument);
	else if (word && q->is_number)
		add_number(request, q->argument, strtoull(word, &end, 10));
	else
		add_text(request, q->argument ? q->argument : "", word);
	return *err->text ? -EINVAL : 0;
}

/* The newest snapshot there is, for a what-if that names none. */
static int choose_newest(struct ctl_link *link, struct json_object *request, struct resched_error *err)
{
	struct json_object *ask = json_object_new_object(), *answer, *list;
	int rc;

	add_text(ask, "op", "snapshots");
	add_number(ask, "last", 1);
	rc = ctl_send(link, ask, err);
	if (rc == 0)
		rc = ctl_receive(link, &answer, err);
	if (rc < 0)
		return rc;
	list = ctl_member(answer, "snapshots");
	if (json_object_is_type(list, json_type_array) && json_object_array_length(list))
		add_number(request, "snapshot", ctl_number(json_object_array_get_idx(list, 0), "number"));
	else
		rc = -ENOENT;
	json_object_put(answer);
	if (rc < 0)
		*err = (struct resched_error){ RESCHED_FAILED, "there is no snapshot yet; ask about the present with --last 10s" };
	return rc;
}

/* Return: 0; -errno with @err filled. @ret is the caller's. */
static int make_request(const struct question *q, const struct cli_args *args, struct ctl_link *link, struct json_object **ret,
			struct resched_error *err)
{
	struct json_object *request = json_object_new_object();
	int rc = add_argument(q, args, request, err);

	*ret = request;
	add_text(request, "op", q->op);
	if (args->before_ns)
		add_number(request, "before_ns", args->before_ns);
	if (args->after_ns)
		add_number(request, "after_ns", args->after_ns);
	if (args->rows_given && strcmp(q->word, "watch") != 0)
		add_number(request, "last", args->rows);
	if (!strcmp(q->word, "watch"))
		add_number(request, "top", args->top ? args->top : 5);
	if (rc < 0 || strcmp(q->word, "whatif") != 0)
		return rc;
	json_object_object_add(request, "whatif", whatif_of(args));
	if (args->last_ns)
		add_number(request, "last_ns", args->last_ns);
	else if (args->words.nr < 2)
		rc = choose_newest(link, request, err);
	return rc;
}

static void print_json(FILE *out, struct json_object *object)
{
	fprintf(out, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* Of a what-if, while it runs. On a terminal alone. */
static void print_progress(const struct cli_args *args, struct json_object *event)
{
	if (args->quiet || !isatty(STDERR_FILENO))
		return;
	if (ctl_member(event, "parts"))
		fprintf(stderr, "\r%s: %.1f %%\033[K", ctl_text(event, "phase"), (double)ctl_number(event, "parts") / 10);
	else if (*ctl_text(event, "phase"))
		fprintf(stderr, "\r%s: %.1f M events\033[K", ctl_text(event, "phase"), (double)ctl_number(event, "events") / 1e6);
}

static void print_answer(FILE *out, const struct question *q, const struct cli_args *args, struct json_object *answer)
{
	if (ctl_member(answer, "text"))
		fputs(ctl_text(answer, "text"), out);
	else if (ctl_member(answer, "report"))
		print_json(out, ctl_member(answer, "report"));
	else if (args->json)
		print_json(out, answer);
	else if (q->print)
		q->print(out, answer);
}

/* Events as they come, until there were as many samples as asked for. */
static int watch(const struct cli_args *args, struct ctl_link *link, struct resched_error *err)
{
	struct json_object *event;
	uint64_t samples = 0;
	int rc;

	while ((rc = ctl_receive(link, &event, err)) > 0) {
		if (args->json)
			printf("%s\n", json_object_to_json_string_ext(event, JSON_C_TO_STRING_PLAIN));
		else
			ctl_print_event(stdout, event);
		samples += !strcmp(ctl_text(event, "event"), "sample");
		json_object_put(event);
		if (fflush(stdout) != 0 || (args->rows_given && samples >= args->rows))
			return 0;
	}
	if (rc == 0)
		json_object_put(event);
	return rc;
}

static int ask(const struct cli_command *self, const struct cli_args *args, const struct question *q, struct ctl_link *link,
	       struct resched_error *err)
{
	struct json_object *request = NULL, *answer = NULL;
	struct cli_out out;
	int rc = make_request(q, args, link, &request, err);

	if (rc < 0) {
		json_object_put(request);
		return cli_fail(self, err);
	}
	rc = ctl_send(link, request, err);
	if (rc == 0 && !strcmp(q->word, "watch")) {
		rc = watch(args, link, err);
		return rc < 0 ? cli_fail(self, err) : 0;
	}
	while (rc == 0 && (rc = ctl_receive(link, &answer, err)) > 0) {
		print_progress(args, answer);
		json_object_put(answer);
		rc = 0;
	}
	if (!args->quiet && isatty(STDERR_FILENO) && !strcmp(q->word, "whatif"))
		fputs("\r\033[K", stderr);
	if (rc < 0)
		return cli_fail(self, err);
	cli_out_open(self, args, 0, &out);
	print_answer(out.stream, q, args, answer);
	json_object_put(answer);
	return cli_out_close(self, &out, 0, 0, err);
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const struct question *q = args->words.nr ? find(args->words.items[0]) : NULL;
	struct resched_error err = { 0 };
	struct ctl_link link;
	int code;

	if (!args->words.nr)
		return cli_usage(self, "what to ask: status, snapshots, show, snapshot, whatif, watch, jobs, cancel, series, metrics, delete, reload");
	if (!q)
		return cli_usage(self, "'%s' cannot be asked; 'resched ctl --help' tells what can", args->words.items[0]);
	if (ctl_open(args->socket ? args->socket : CTL_SOCKET, &link, &err) < 0)
		code = cli_fail(self, &err);
	else
		code = ask(self, args, q, &link, &err);
	ctl_close(&link);
	return code;
}

static const struct cli_option own[] = {
	{ "--socket", 0, "PATH", CLI_TEXT, offsetof(struct cli_args, socket), "the daemon's socket (default: " CTL_SOCKET ")" },
	{ "--before", 0, "TIME", CLI_SECONDS, offsetof(struct cli_args, before_ns), "snapshot: so much of the past (default: the daemon's)" },
	{ "--after", 0, "TIME", CLI_SECONDS, offsetof(struct cli_args, after_ns), "snapshot: so much of what comes (default: nothing)" },
	{ "--last", 0, "TIME", CLI_SECONDS, offsetof(struct cli_args, last_ns), "whatif: about the time up to now, not about a snapshot" },
	{ "--report", 0, "compare|report|outliers", CLI_CHOICE, offsetof(struct cli_args, report), "whatif: what to make of it" },
	{ "--top", 0, "N", CLI_NUMBER, offsetof(struct cli_args, top), "watch: so many tasks and cgroups; whatif: so many outliers" },
	{ "--comm", 0, "GLOB", CLI_TEXT, offsetof(struct cli_args, comm), "whatif: only tasks whose name matches" },
	{ NULL, 'n', "NUMBER", CLI_NUMBER, offsetof(struct cli_args, rows), "snapshots, series: the newest; watch: end after so many samples" },
};
static const struct cli_group own_options = { "Control", sizeof(own) / sizeof(own[0]), own };

const struct cli_command cli_ctl = {
	.name = "ctl", .usage = "ctl WHAT [WORD] [OPTIONS]",
	.summary = "Talk to reschedd: its snapshots, its figures, and what-ifs about them",
	.text = "  status             how the daemon is\n"
		"  snapshots          what it keeps\n"
		"  show NUMBER        a snapshot: why it was taken, the worst waits in it and their causes\n"
		"  snapshot [REASON]  take one now\n"
		"  whatif [NUMBER]    a what-if about a snapshot (default: the newest)\n"
		"  watch              waits, triggers and snapshots as they come\n"
		"  jobs, cancel JOB   what-ifs that run or wait\n"
		"  series NAME        results of a scheduled what-if\n"
		"  metrics            figures for Prometheus\n"
		"  delete NUMBER      remove a snapshot\n"
		"  reload             have the configuration read again\n",
	.nr_groups = 3,
	.groups = { &own_options, &cli_whatif_options, &cli_output_options },
	.run = run,
};
