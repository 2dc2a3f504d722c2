// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control socket: bytes as a client sends them, in pieces, to a daemon with two snapshots and without a recorder. The first byte
 * says how large the pieces are. What-ifs are accepted and cancelled at the end: no worker is started. Whatever comes, each answer is a
 * JSON object on a line that says what it is, and nothing is left of the client.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/daemon.h"

#define SNAPSHOTS 2u

static struct daemon the_daemon;
static struct config the_config;
static struct loop_timer step_timer;
static char folder[] = "/tmp/resched-fuzz-XXXXXX";

static void require(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "broken promise: %s\n", what);
	abort();
}

static void no_mistake(void *ctx, const char *text)
{
	(void)ctx;
	require(0, text);
}

static void on_step(void *ctx)
{
	((struct daemon *)ctx)->loop.stop = true;
}

/* What is ready now. */
static void step(struct daemon *d)
{
	for (int i = 0; i < 4; i++) {
		d->loop.stop = false;
		loop_timer_set(&d->loop, &step_timer, 0);
		require(loop_run(&d->loop) == 0, "the loop runs");
	}
}

static void fill_store(void)
{
	static const char meta[] = "{\"number\":%u,\"taken_s\":1,\"triggers\":[],\"outliers\":[]}";

	for (unsigned int number = 1; number <= SNAPSHOTS; number++) {
		char path[128];
		FILE *out;

		snprintf(path, sizeof(path), "%s/snapshot-%08u.dat", folder, number);
		out = fopen(path, "w");
		require(out != NULL, "a snapshot can be made");
		fclose(out);
		snprintf(path, sizeof(path), "%s/snapshot-%08u.json", folder, number);
		out = fopen(path, "w");
		require(out != NULL, "its description can be made");
		fprintf(out, meta, number);
		fclose(out);
	}
}

static void remove_store(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command) != 0)
		perror(folder);
}

static struct daemon *daemon_of_fuzzer(void)
{
	struct daemon *d = &the_daemon;

	if (d->config)
		return d;
	signal(SIGHUP, SIG_IGN);	/* what "reload" sends */
	require(mkdtemp(folder) != NULL, "a folder can be made");
	atexit(remove_store);
	d->config = &the_config;
	d->config_path = "/nonexistent";
	require(config_read(d->config_path, true, &the_config, no_mistake, NULL) == 0, "defaults are good");
	snprintf(the_config.directory, sizeof(the_config.directory), "%s", folder);
	snprintf(the_config.schedules[0].name, sizeof(the_config.schedules[0].name), "s");
	the_config.min_free = 0;
	the_config.max_age_ns = UINT64_MAX;
	the_config.rate = 1e9;
	the_config.max_request = 4096;
	d->log.level = LOG_ERROR;
	require(loop_init(&d->loop) == 0, "a loop can be made");
	daemon_prepare(d);
	d->jobs.closing = true;		/* no worker starts */
	d->server.listener.fd = -1;
	require(watch_init(&d->watch, 64, 4) == 0, "the watch can be made");
	triggers_set(&d->triggers, &the_config);
	snprintf(d->recorder.why, sizeof(d->recorder.why), "a fuzzer is at work");
	step_timer = (struct loop_timer){ .due = on_step, .ctx = d };
	return d;
}

static void check_line(const char *line, size_t len)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *answer = json_tokener_parse_ex(tokener, line, (int)len), *version = NULL, *what;

	require(answer && json_object_is_type(answer, json_type_object) && json_tokener_get_parse_end(tokener) == len, "an answer is an object on a line");
	json_object_object_get_ex(answer, "v", &version);
	require(json_object_get_int(version) == PROTOCOL_VERSION, "an answer tells its version");
	require(json_object_object_get_ex(answer, "ok", &what) || json_object_object_get_ex(answer, "event", &what), "an answer says what it is");
	json_object_put(answer);
	json_tokener_free(tokener);
}

/* All that is there; a line that is not whole is kept. */
static size_t read_answers(int fd, char *buf, size_t have, size_t size)
{
	ssize_t n;

	while ((n = recv(fd, buf + have, size - have, MSG_DONTWAIT)) > 0) {
		char *line = buf, *end;

		have += (size_t)n;
		while ((end = memchr(line, '\n', have - (size_t)(line - buf)))) {
			check_line(line, (size_t)(end - line));
			line = end + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		require(have < size, "an answer has an end");
	}
	return have;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char answers[1 << 20];
	struct daemon *d = daemon_of_fuzzer();
	size_t piece = size ? 1 + data[0] * 8u : 1, have = 0;
	int ends[2];

	if (d->store.nr < SNAPSHOTS) {
		store_release(&d->store);
		fill_store();
		store_open(&d->store);
	}
	require(d->store.nr == SNAPSHOTS, "the snapshots are there");
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "sockets can be made");
	require(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0, "they need not block");
	client_new(&d->server, ends[1]);
	for (size_t at = 1; at < size; at += piece) {
		size_t len = size - at < piece ? size - at : piece;

		if (send(ends[0], data + at, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE)
			break;
		step(d);
		have = read_answers(ends[0], answers, have, sizeof(answers));
	}
	requests_sample(d);
	step(d);
	have = read_answers(ends[0], answers, have, sizeof(answers));
	require(have == 0, "answers are whole");
	close(ends[0]);
	for (int i = 0; i < 16 && d->server.nr_clients; i++)
		step(d);
	require(d->server.nr_clients == 0, "a client that is gone is forgotten");
	jobs_release(&d->jobs);
	requests_sample(d);	/* watchers that are gone */
	require(!d->jobs.first && !d->nr_watchers && !d->takings, "nothing is left of a client");
	return 0;
}
