// SPDX-License-Identifier: GPL-2.0-only
/* Patience with clients, by a clock of our own: who sends half a request, who reads nothing, who asks nothing. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/server.h"

#define S 1000000000ull

struct setup { struct config config; struct log log; struct loop loop; struct loop_timer stop; struct server server; unsigned int asked; int fd; };

static void on_stop(void *ctx)
{
	((struct loop *)ctx)->stop = true;
}

static void step(struct setup *s)
{
	for (int i = 0; i < 4; i++) {
		s->loop.stop = false;
		loop_timer_set(&s->loop, &s->stop, 0);
		assert_int_equal(loop_run(&s->loop), 0);
	}
}

/* Every request is answered with a line of 1000 bytes. */
static void answer(void *ctx, struct client *client, struct json_object *request)
{
	struct setup *s = ctx;
	char line[1001];

	(void)request;
	s->asked++;
	memset(line, 'x', sizeof(line) - 1);
	line[999] = '\n';
	client_send(&s->server, client_number(client), line, 1000, false);
}

static struct setup *begin(void)
{
	struct setup *s = calloc(1, sizeof(*s));
	int ends[2];

	assert_non_null(s);
	config_defaults(&s->config);
	s->config.rate = 1e6;
	s->config.idle_ns = 100 * S;
	assert_int_equal(loop_init(&s->loop), 0);
	s->stop = (struct loop_timer){ .due = on_stop, .ctx = &s->loop };
	s->server = (struct server){ .loop = &s->loop, .config = &s->config, .log = &s->log, .request = answer, .ctx = s, .listener.fd = -1, .lock_fd = -1 };
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	client_new(&s->server, ends[1]);
	s->fd = ends[0];
	assert_int_equal(s->server.nr_clients, 1);
	return s;
}

static void end(struct setup *s)
{
	close(s->fd);
	server_close(&s->server);
	loop_release(&s->loop);
	free(s);
}

static void send_text(struct setup *s, const char *text)
{
	assert_int_equal(send(s->fd, text, strlen(text), 0), strlen(text));
	step(s);
}

/* Looks as if @seconds had passed since now. Return: is the client still there? */
static bool lives(struct setup *s, uint64_t seconds)
{
	client_look(s->server.clients, loop_now_ns() + seconds * S);
	return s->server.nr_clients == 1;
}

static void half_a_request(void **state)
{
	struct setup *s = begin();

	(void)state;
	send_text(s, "{\"v\":1}\n{\"v\"");
	assert_int_equal(s->asked, 1);
	assert_true(lives(s, 2));
	send_text(s, ":1");		/* still half of it: the time goes on from its beginning */
	assert_true(lives(s, 2));
	send_text(s, "}\n");
	assert_int_equal(s->asked, 2);
	assert_true(lives(s, 20));	/* whole: nothing is waited for */
	send_text(s, "{");
	assert_false(lives(s, 20));
	assert_int_equal(s->server.count.closed_slow, 1);
	end(s);
}

static void one_that_does_not_read(void **state)
{
	struct setup *s = begin();
	char buf[65536];

	(void)state;
	for (int i = 0; i < 2000; i++)	/* more than the socket holds */
		send_text(s, "{}\n");
	assert_int_equal(s->asked, 2000);
	assert_true(lives(s, 20));
	while (recv(s->fd, buf, sizeof(buf), 0) > 0)	/* slow, but it reads: the time begins anew */
		step(s);
	assert_true(lives(s, 20));
	for (int i = 0; i < 2000; i++)
		send_text(s, "{}\n");
	assert_false(lives(s, 40));
	assert_int_equal(s->server.count.closed_slow, 1);
	end(s);
}

/* What a client has not read is bounded, however patient it is. */
static void one_that_asks_and_never_reads(void **state)
{
	struct setup *s = begin();

	(void)state;
	for (int i = 0; i < 30000 && s->server.nr_clients; i++) {
		if (send(s->fd, "{}\n", 3, MSG_NOSIGNAL) < 0)
			break;
		step(s);
	}
	assert_int_equal(s->server.nr_clients, 0);
	assert_in_range(s->asked, 20000, 29000);	/* 24 MB */
	assert_int_equal(s->server.count.closed_slow, 1);
	end(s);
}

static void one_that_is_idle(void **state)
{
	struct setup *s = begin();
	uint64_t number = client_number(s->server.clients);

	(void)state;
	assert_true(lives(s, 90));
	client_waits(&s->server, number, 1);	/* for a what-if, or it watches */
	assert_true(lives(s, 100000));
	client_waits(&s->server, number, -1);
	assert_false(lives(s, 110));
	end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_a_request), cmocka_unit_test(one_that_does_not_read), cmocka_unit_test(one_that_asks_and_never_reads),
		cmocka_unit_test(one_that_is_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
