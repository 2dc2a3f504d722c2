// SPDX-License-Identifier: GPL-2.0-only
/* Many what-ifs, each by a `resched replay` of its own whose result stays in a folder, so that what is there is not run again. */
#include "cli/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <resched/sweep.h>

#define FAILURE_LEN 600

struct sweep {
	struct sweep_grid grid;
	unsigned int nr;
	struct sweep_job *jobs;
	struct resched_sweep_row *rows;
	struct resched_figures *totals;
	const char **values;			/* of all rows */
	char (*failures)[FAILURE_LEN];
};

static void release(struct sweep *s)
{
	for (unsigned int i = 0; s->jobs && i < s->nr; i++) {
		sweep_command_release(&s->jobs[i].command);
		free(s->jobs[i].result);
		free(s->jobs[i].told);
	}
	free(s->jobs);
	free(s->rows);
	free(s->totals);
	free(s->values);
	free(s->failures);
	sweep_grid_release(&s->grid);
}

static int make_jobs(struct sweep *s, const struct cli_args *args, const struct cli_texts *files, const char *folder)
{
	uint64_t points = sweep_grid_points(&s->grid);

	s->nr = (unsigned int)(points * files->nr);
	s->jobs = calloc(s->nr, sizeof(*s->jobs));
	s->rows = calloc(s->nr, sizeof(*s->rows));
	s->totals = calloc(s->nr, sizeof(*s->totals));
	s->failures = calloc(s->nr, sizeof(*s->failures));
	s->values = calloc((size_t)s->nr * s->grid.nr + 1, sizeof(*s->values));
	if (!s->jobs || !s->rows || !s->totals || !s->failures || !s->values)
		return -ENOMEM;
	for (unsigned int i = 0; i < s->nr; i++) {
		struct sweep_job *job = &s->jobs[i];
		const char **values = s->values + (size_t)i * s->grid.nr, *file = files->items[i / points];
		unsigned long long hash;
		unsigned int own;

		sweep_grid_at(&s->grid, i % points, values);
		if (sweep_command_make(args, file, &s->grid, values, &job->command, &own) < 0)
			return -ENOMEM;
		hash = sweep_command_hash(&job->command, own, file);
		if (asprintf(&job->result, "%s/%016llx.json", folder, hash) < 0 || asprintf(&job->told, "%s/%016llx.err", folder, hash) < 0)
			return -ENOMEM;
		job->done = access(job->result, R_OK) == 0;
		s->rows[i].file = file;
		s->rows[i].values = values;
	}
	return 0;
}

/* The last line of what a command said, without its own name. */
static void read_failure(const char *path, char *ret)
{
	const char *colon;
	FILE *in = fopen(path, "re");

	snprintf(ret, FAILURE_LEN, "it was interrupted or killed; run the sweep again");
	while (in && fgets(ret, FAILURE_LEN, in))
		ret[strcspn(ret, "\n")] = '\0';
	if (in)
		fclose(in);
	colon = !strncmp(ret, "resched replay: ", 16) ? ret + 16 : ret;
	memmove(ret, colon, strlen(colon) + 1);
}

/* Return: how many failed. */
static unsigned int gather(struct sweep *s)
{
	unsigned int failed = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		struct resched_error err = { 0 };

		if (s->jobs[i].done && resched_sweep_totals(s->jobs[i].result, &s->totals[i], &err) == 0) {
			s->rows[i].totals = &s->totals[i];
			continue;
		}
		if (s->jobs[i].done)
			snprintf(s->failures[i], FAILURE_LEN, "%s", err.text);
		else
			read_failure(s->jobs[i].told, s->failures[i]);
		s->rows[i].failure = s->failures[i];
		failed++;
	}
	return failed;
}

/* The folder, for us alone. Return: its descriptor; an exit code with a minus. */
static int open_folder(const struct cli_command *self, const char *folder)
{
	struct resched_error err = { RESCHED_FAILED, "" };
	int fd;

	if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
		snprintf(err.text, sizeof(err.text), "cannot make the folder '%.300s': %s; name another with -o", folder, strerror(errno));
		return -cli_fail(self, &err);
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		snprintf(err.text, sizeof(err.text), "cannot open the folder '%.300s': %s; name another with -o", folder, strerror(errno));
		return -cli_fail(self, &err);
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		snprintf(err.text, sizeof(err.text), "another sweep is at work in '%.300s'; wait for it, or name another folder with -o", folder);
		close(fd);
		return -cli_fail(self, &err);
	}
	return fd;
}

static unsigned int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned int)CPU_COUNT(&set);
}

static int work(const struct cli_command *self, struct cli_args *args, struct sweep *s, const struct cli_texts *files, const char *folder)
{
	const char *keys[SWEEP_MAX_KEYS];
	struct resched_error err = { 0 };
	unsigned int at_a_time = args->jobs ? (unsigned int)args->jobs : cpus(), there = 0, failed;
	struct cli_out out;
	int rc, code;

	for (unsigned int k = 0; k < s->grid.nr; k++)
		keys[k] = s->grid.keys[k].name;
	if (make_jobs(s, args, files, folder) < 0)
		return cli_fail(self, &(struct resched_error){ RESCHED_FAILED, "out of memory" });
	for (unsigned int i = 0; i < s->nr; i++)
		there += s->jobs[i].done;
	if (there && !args->quiet)
		cli_warn(self, "%u of %u are in '%s' already and are not run again", there, s->nr, folder);
	rc = sweep_jobs_run(s->jobs, s->nr, at_a_time < s->nr ? at_a_time : s->nr, !args->quiet && isatty(STDERR_FILENO), &err);
	if (rc < 0)
		return cli_fail(self, &err);
	failed = gather(s);
	cli_out_open(self, args, 0, &out);
	rc = resched_print_sweep(out.stream, s->grid.nr, keys, s->nr, s->rows, files->nr > 1, &out.print, &err);
	code = cli_out_close(self, &out, 0, rc, &err);
	for (unsigned int i = 0, told = 0; i < s->nr && told < 3; i++) {
		if (!s->rows[i].failure)
			continue;
		cli_warn(self, "row %u failed: %s", i + 1, s->rows[i].failure);
		told++;
	}
	if (failed > 3)
		cli_warn(self, "%u of %u failed; --csv and --json tell why", failed, s->nr);
	return code ? code : failed ? RESCHED_FAILED : 0;
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *one = args->input ? args->input : "trace.dat", *folder = args->output ? args->output : "sweep.out";
	const struct cli_texts files = args->words.nr ? args->words : (struct cli_texts){ 1, &one };
	struct sweep s = { 0 };
	struct resched_error err = { 0 };
	int code = 0, fd;

	if (args->words.nr && args->input)
		return cli_usage(self, "give all recordings as words; leave out -i");
	if (args->policies.nr > 1)
		return cli_usage(self, "several policies are a key of the grid: --grid policy=eevdf,cfs");
	if (!args->grid.nr && files.nr < 2)
		return cli_usage(self, "what is to be varied? --grid KEY=VALUE,VALUE, for example --grid base_slice_ns=1ms,3ms");
	if (args->jobs > 4096)
		return cli_usage(self, "-j %llu is too many", (unsigned long long)args->jobs);
	for (unsigned int i = 0; i < files.nr; i++) {
		if (!strcmp(files.items[i], "-"))
			return cli_usage(self, "standard input cannot be read again and again; name a file");
	}
	if (sweep_grid_parse(&args->grid, &s.grid, &err) < 0)
		code = cli_fail(self, &err);
	else if (sweep_grid_points(&s.grid) * files.nr > SWEEP_MAX_POINTS)
		code = cli_usage(self, "the grid has more than %u points", SWEEP_MAX_POINTS);
	fd = code ? -1 : open_folder(self, folder);
	if (!code)
		code = fd < 0 ? -fd : work(self, args, &s, &files, folder);
	if (fd >= 0)
		close(fd);
	release(&s);
	return code;
}

static const struct cli_option own[] = {
	{ "--grid", 0, "KEY=V,V...", CLI_TEXTS, offsetof(struct cli_args, grid), "vary KEY: policy, model, feature, placement, seed, topology, task, cgroup or a tunable" },
	{ "--output", 'o', "FOLDER", CLI_TEXT, offsetof(struct cli_args, output), "where results are kept and looked for (default: sweep.out)" },
	{ NULL, 'j', "N", CLI_NUMBER, offsetof(struct cli_args, jobs), "so many at a time (default: one a cpu)" },
	{ "--launcher", 0, "COMMAND", CLI_TEXT, offsetof(struct cli_args, launcher), "run each through this: 'srun -n1 -c1'" },
	{ "--csv", 0, NULL, CLI_FLAG, offsetof(struct cli_args, csv), "comma-separated values" },
};
static const struct cli_group own_group = { "Sweep", sizeof(own) / sizeof(own[0]), own };

const struct cli_command cli_sweep = {
	.name = "sweep", .usage = "sweep --grid KEY=V,V... [OPTIONS] [FILE...]",
	.summary = "Many what-ifs of recordings or workloads in one table, run side by side",
	.text = "Every combination of the grid's values is replayed. Results stay in a folder: the same sweep again runs only what is missing.\n",
	.nr_groups = 5, .groups = { &own_group, &cli_whatif_options, &cli_input_options, &cli_select_options, &cli_output_options }, .run = run,
};
