// SPDX-License-Identifier: GPL-2.0-only
/* One connection: lines in, lines out, and its limits. */
#include "daemon/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define HALF_REQUEST_NS 10000000000ull	/* the rest of a line has to come within this */
#define STUCK_NS 30000000000ull		/* a client that reads nothing for so long is closed */
#define WRITE_MOST (24u << 20)		/* bytes that may wait for a client; above the largest report */
#define MISS_ABOVE 65536u		/* what can be missed is, while more than this waits */
#define JSON_DEPTH 16

struct client {
	struct server *server;
	struct loop_fd source;
	uint64_t number;
	struct ucred peer;
	enum right right;
	char *in; size_t in_len, in_size;
	char *out; size_t out_len, out_at, out_size;	/* out_at: sent so far */
	int pass_fd; size_t pass_at;			/* a file that goes with the byte at @pass_at; -1 none */
	double tokens; uint64_t tokens_ns;
	uint64_t asked_ns, half_ns, wrote_ns;		/* last request; beginning of half a one, 0 none; last progress */
	int waiting;
	bool recent;					/* a file of the present is written for it */
	bool paused, closing;				/* closing: when all is written */
	struct client *next;
};

struct client *client_next(const struct client *client)
{
	return client->next;
}

enum right client_right(const struct client *client)
{
	return client->right;
}

uint64_t client_number(const struct client *client)
{
	return client->number;
}

static struct client *find(const struct server *server, uint64_t number)
{
	struct client *client = server->clients;

	while (client && client->number != number)
		client = client->next;
	return client;
}

bool client_is_there(const struct server *server, uint64_t number)
{
	return find(server, number) != NULL;
}

void client_waits(struct server *server, uint64_t number, int change)
{
	struct client *client = find(server, number);

	if (client)
		client->waiting += change;
}

void client_free(struct client *client)
{
	struct server *server = client->server;

	for (struct client **at = &server->clients; *at; at = &(*at)->next) {
		if (*at == client) {
			*at = client->next;
			server->nr_clients--;
			break;
		}
	}
	loop_remove(server->loop, &client->source);
	close(client->source.fd);
	if (client->pass_fd >= 0)
		close(client->pass_fd);
	free(client->in);
	free(client->out);
	free(client);
}

/* Which events matter now. */
static void want(struct client *c)
{
	uint32_t events = c->paused || c->closing ? 0 : EPOLLIN;

	loop_want(c->server->loop, &c->source, events | (c->out_at < c->out_len ? (uint32_t)EPOLLOUT : 0));
}

/* Send a part, with the file when it is its turn. As send(). */
static ssize_t send_part(struct client *c)
{
	bool with = c->pass_fd >= 0 && c->out_at == c->pass_at;
	struct iovec part = { c->out + c->out_at, c->out_len - c->out_at };
	union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = { 0 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (c->pass_fd >= 0 && c->out_at < c->pass_at)
		part.iov_len = c->pass_at - c->out_at;
	if (with) {
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &c->pass_fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
	}
	n = sendmsg(c->source.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0 && with) {
		close(c->pass_fd);
		c->pass_fd = -1;
	}
	return n;
}

/* Send what the socket takes. Return: false when the client is gone or done with. */
static bool flush(struct client *c)
{
	while (c->out_at < c->out_len) {
		ssize_t n = send_part(c);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0)
			return false;
		c->out_at += (size_t)n;
		c->wrote_ns = loop_now_ns();
	}
	c->out_at = c->out_len = 0;
	if (c->out_size > MISS_ABOVE) {	/* a large answer is no reason to hold so much for ever */
		free(c->out);
		c->out = NULL;
		c->out_size = 0;
	}
	return !c->closing;
}

static bool append(struct client *c, const char *text, size_t len)
{
	size_t waiting = c->out_len - c->out_at;

	if (c->out_at) {
		memmove(c->out, c->out + c->out_at, waiting);
		c->pass_at -= c->pass_fd >= 0 ? c->out_at : 0;
		c->out_at = 0;
		c->out_len = waiting;
	}
	if (waiting + len > c->out_size) {
		size_t size = (waiting + len) * 3 / 2;
		char *more = realloc(c->out, size);

		if (!more)
			return false;
		c->out = more;
		c->out_size = size;
	}
	memcpy(c->out + c->out_len, text, len);
	c->out_len += len;
	return true;
}

/* Nothing is freed here: callers may still hold the client. The loop comes back at once and ends it. */
static void give_up(struct client *c)
{
	c->server->count.closed_slow++;
	c->out_at = c->out_len = 0;
	c->closing = true;
	shutdown(c->source.fd, SHUT_RDWR);
	want(c);
}

bool client_send(struct server *server, uint64_t number, const char *line, size_t len, bool can_be_missed)
{
	struct client *c = find(server, number);
	size_t waiting = c ? c->out_len - c->out_at : 0;

	if (!c || c->closing)
		return false;
	if (can_be_missed && waiting > MISS_ABOVE) {
		server->count.dropped++;
		return true;
	}
	if (!waiting)
		c->wrote_ns = loop_now_ns();
	if (waiting + len > WRITE_MOST || !append(c, line, len)) {
		log_line(server->log, LOG_NOTE, "client %llu (pid %d, uid %u) does not read; closed", (unsigned long long)number, c->peer.pid,
			 c->peer.uid);
		give_up(c);
		return false;
	}
	want(c);
	return true;
}

bool client_recent(struct server *server, uint64_t number, bool begins)
{
	struct client *c = find(server, number);

	if (!c || (begins && c->recent))
		return false;
	c->recent = begins;
	return true;
}

bool client_pass(struct server *server, uint64_t number, int fd)
{
	struct client *c = find(server, number);

	if (!c || c->closing || c->pass_fd >= 0)
		return false;
	c->pass_fd = fd;
	c->pass_at = c->out_len;
	return true;
}

static void refuse(struct client *c, const char *code, const char *text)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "{\"v\":%d,\"ok\":false,\"error\":{\"code\":\"%s\",\"text\":\"%s\"}}\n", PROTOCOL_VERSION, code, text);

	client_send(c->server, c->number, line, (size_t)len, false);
}

static void handle_line(struct client *c, const char *line, size_t len)
{
	struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);
	struct json_object *request = NULL;

	c->server->count.requests++;
	if (tokener && len < INT32_MAX && !memchr(line, '\0', len)) {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
		request = json_tokener_parse_ex(tokener, line, (int)len);
		if (json_tokener_get_parse_end(tokener) != len || json_tokener_get_error(tokener) != json_tokener_success) {
			json_object_put(request);
			request = NULL;
		}
	}
	if (tokener)
		json_tokener_free(tokener);
	if (json_object_is_type(request, json_type_object)) {
		c->server->request(c->server->ctx, c, request);
	} else {
		c->server->count.malformed++;
		refuse(c, "malformed", "a request is one JSON object on a line");
	}
	json_object_put(request);
}

static void refill(struct client *c, uint64_t now)
{
	double most = c->server->config->rate * 2 < 1 ? 1 : c->server->config->rate * 2;

	c->tokens += (double)(now - c->tokens_ns) / 1e9 * c->server->config->rate;
	c->tokens_ns = now;
	if (c->tokens > most)
		c->tokens = most;
}

/* Requests that are complete, as fast as the rate allows; who asks faster is not read until its turn comes. */
static void handle_lines(struct client *c)
{
	uint64_t now = loop_now_ns();
	size_t at = 0;

	refill(c, now);
	c->paused = false;
	while (!c->closing) {
		char *end = memchr(c->in + at, '\n', c->in_len - at);

		if (!end)
			break;
		if (c->tokens < 1) {
			c->paused = true;
			loop_timer_set(c->server->loop, &c->server->tick, 50000000);
			break;
		}
		c->tokens -= 1;
		c->asked_ns = now;
		if (end > c->in + at)	/* an empty line asks nothing */
			handle_line(c, c->in + at, (size_t)(end - c->in) - at);
		at = (size_t)(end - c->in) + 1;
	}
	memmove(c->in, c->in + at, c->in_len - at);
	c->in_len -= at;
	if (!c->paused && c->in_len == c->in_size && !c->closing) {
		c->server->count.malformed++;
		refuse(c, "too_long", "the request is longer than max_request");
		c->closing = true;
	}
	c->half_ns = c->paused || !c->in_len ? 0 : at || !c->half_ns ? now : c->half_ns;
	want(c);
}

/* Return: false when the client is gone. */
static bool receive(struct client *c)
{
	ssize_t n = recv(c->source.fd, c->in + c->in_len, c->in_size - c->in_len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	c->in_len += (size_t)n;
	handle_lines(c);
	return true;
}

static void on_ready(void *ctx, uint32_t events)
{
	struct client *c = ctx;

	if (events & EPOLLIN && !c->closing && !receive(c)) {
		client_free(c);
		return;
	}
	if (events & (EPOLLERR | EPOLLHUP) || !flush(c)) {
		client_free(c);
		return;
	}
	want(c);
}

bool client_look(struct client *c, uint64_t now)
{
	bool stuck = c->out_at < c->out_len && now - c->wrote_ns > STUCK_NS;
	bool half = c->half_ns && now - c->half_ns > HALF_REQUEST_NS;
	bool idle = !c->waiting && c->out_at == c->out_len && now - c->asked_ns > c->server->config->idle_ns;

	if (stuck || half || idle) {
		c->server->count.closed_slow++;
		client_free(c);
		return false;
	}
	if (c->paused)
		handle_lines(c);
	return c->paused;
}

void client_new(struct server *server, int fd)
{
	struct client *c = calloc(1, sizeof(*c));
	uint64_t now = loop_now_ns();

	if (c)
		c->in = malloc(server->config->max_request + 1);
	if (!c || !c->in) {
		free(c);
		close(fd);
		return;
	}
	c->server = server;
	c->pass_fd = -1;
	c->in_size = server->config->max_request + 1;
	c->number = ++server->last_number;
	c->asked_ns = c->tokens_ns = now;
	c->tokens = server->config->rate * 2 < 1 ? 1 : server->config->rate * 2;
	c->source = (struct loop_fd){ .fd = fd, .ready = on_ready, .ctx = c };
	c->right = access_of(fd, server->config, &c->peer);
	c->next = server->clients;
	server->clients = c;
	server->nr_clients++;
	if (loop_add(server->loop, &c->source, EPOLLIN) < 0) {
		client_free(c);
		return;
	}
	if (c->right == RIGHT_NONE) {
		server->count.denied++;
		log_line(server->log, LOG_NOTE, "refused a client: pid %d, uid %u, gid %u", c->peer.pid, c->peer.uid, c->peer.gid);
		refuse(c, "denied", "only root and members of the configured groups may ask");
		c->closing = true;
		want(c);
	}
}
