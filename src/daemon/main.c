// SPDX-License-Identifier: GPL-2.0-only
/* reschedd: the flight recorder, its triggers and the what-if service behind `resched ctl`. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <resched/error.h>

#include "daemon/daemon.h"
#include "daemon/worker.h"

#define CONFIG_PATH_DEFAULT "/etc/resched/reschedd.conf"

static const char help[] =
	"usage: reschedd [OPTIONS]\n\n"
	"Keeps a flight recorder of the scheduler running, takes snapshots when waits grow, and answers what-ifs.\n"
	"Runs in the foreground; 'resched ctl' talks to it.\n\n"
	"  -c, --config FILE  configuration (default: " CONFIG_PATH_DEFAULT ", which need not be there)\n"
	"      --check-config read the configuration, tell every mistake, and end\n"
	"      --list-keys    the keys of the configuration: section, key, default, meaning\n"
	"  -v, --verbose      say more\n"
	"  -h, --help         this text\n"
	"      --version      version\n\n"
	"The manual: man reschedd\n";

static int finish(void)
{
	errno = 0;
	if (fclose(stdout) == 0 || errno == EPIPE)
		return RESCHED_OK;
	fprintf(stderr, "reschedd: cannot write the output: %s\n", strerror(errno));
	return RESCHED_FAILED;
}

static void tell_mistake(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "reschedd: %s\n", text);
}

static int check_config(const char *path, bool given)
{
	struct config *config = malloc(sizeof(*config));
	int rc = config ? config_read(path, !given, config, tell_mistake, NULL) : -ENOMEM;

	if (rc == 0)
		printf("%s: %u triggers, %u schedules, no mistake\n", path, config->nr_triggers, config->nr_schedules);
	free(config);
	rc = rc < 0 ? RESCHED_USAGE : RESCHED_OK;
	return finish() == RESCHED_OK ? rc : RESCHED_FAILED;
}

static int serve(const char *path, bool given, bool verbose)
{
	struct daemon *d = calloc(1, sizeof(*d));
	int code = RESCHED_USAGE;

	if (d)
		d->config = malloc(sizeof(*d->config));
	if (!d || !d->config) {
		fputs("reschedd: out of memory\n", stderr);
		free(d);
		return RESCHED_FAILED;
	}
	log_init(&d->log);
	if (verbose)
		d->log.level = LOG_DETAIL;
	d->config_path = path;
	d->config_given = given;
	if (config_read(path, !given, d->config, tell_mistake, NULL) == 0)
		code = daemon_run(d);
	free(d->config);
	free(d);
	return code;
}

int main(int argc, char **argv)
{
	enum { CHECK = 256, LIST, VERSION, WORKER };
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' }, { "check-config", no_argument, NULL, CHECK }, { "list-keys", no_argument, NULL, LIST },
		{ "verbose", no_argument, NULL, 'v' }, { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, VERSION },
		{ "worker", no_argument, NULL, WORKER }, { NULL, 0, NULL, 0 },
	};
	const char *path = CONFIG_PATH_DEFAULT;
	bool given = false, verbose = false, check = false;
	int option;

	while ((option = getopt_long(argc, argv, "c:vh", options, NULL)) != -1) {
		switch (option) {
		case 'c': path = optarg; given = true; break;
		case 'v': verbose = true; break;
		case CHECK: check = true; break;
		case LIST: config_list_keys(stdout); return finish();
		case 'h': fputs(help, stdout); return finish();
		case VERSION: printf("reschedd %s\n", RESCHED_VERSION); return finish();
		case WORKER: return worker_main();
		default: return RESCHED_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "reschedd: it takes no words, such as '%s'; reschedd --help lists the options\n", argv[optind]);
		return RESCHED_USAGE;
	}
	return check ? check_config(path, given) : serve(path, given, verbose);
}
