/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: resched-protocol(5). Everything a client may use up has a limit: connections, length of a request, requests a
 * second, time for half a request, bytes it has not read yet. Who passes one is closed; nobody else notices.
 */
#ifndef DAEMON_SERVER_H
#define DAEMON_SERVER_H

#include <json-c/json.h>
#include "daemon/access.h"
#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/loop.h"

#define PROTOCOL_VERSION 1

struct client;
struct server;

/* Somebody who waits for an answer. The client may be gone by then: it is known by number, never by pointer. */
struct asker { uint64_t client; struct json_object *id; };

/* server_request_fn - @request is an object; borrowed. */
typedef void (*server_request_fn)(void *ctx, struct client *client, struct json_object *request);

struct server {
	struct loop *loop; const struct config *config; const struct log *log;	/* borrowed */
	server_request_fn request; void *ctx;
	struct loop_fd listener;
	bool own_path, accepting;
	int lock_fd;
	struct loop_timer tick;
	struct client *clients;
	unsigned int nr_clients;
	uint64_t last_number;
	struct { uint64_t connections, denied, refused, requests, malformed, closed_slow, dropped; } count;
};

/* server_open() - take the socket systemd passed, or make one at the configured path. A socket left by a daemon that is gone is
 * replaced; one that lives is not. @server: log, loop, config, request and ctx set. Return: 0; -errno after telling why. */
int server_open(struct server *server);
void server_close(struct server *server);
void server_set_config(struct server *server, const struct config *config);

/* client.c */
void client_new(struct server *server, int fd);
void client_free(struct client *client);
/* client_look() - what time has brought: pauses that end, patience that ends. Return: true while it has to be looked at often. */
bool client_look(struct client *client, uint64_t now_ns);
struct client *client_next(const struct client *client);
enum right client_right(const struct client *client);
uint64_t client_number(const struct client *client);
/* client_waits() - count what it waits for, so that it is not idle. */
void client_waits(struct server *server, uint64_t number, int change);

/* answer.c: lines to clients. Every function takes over @fields (NULL: none); the client may be gone. */
struct asker asker_of(const struct client *client, struct json_object *request);	/* to asker_release() */
void asker_release(struct asker *asker);
void answer_ok(struct server *server, const struct asker *asker, struct json_object *fields);
void answer_error(struct server *server, const struct asker *asker, const char *code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* answer_event() - a line before the answer. One that can be missed is dropped when the client is slow. */
void answer_event(struct server *server, const struct asker *asker, const char *event, struct json_object *fields, bool can_be_missed);
bool client_send(struct server *server, uint64_t number, const char *line, size_t len, bool can_be_missed);
/* client_recent() - one file of the present at a time is written for a client. Return: false: one is being written already. */
bool client_recent(struct server *server, uint64_t number, bool begins);
/* client_pass() - the line that is sent next carries @fd, which is the client's on success. Return: false: gone, or one is on its way. */
bool client_pass(struct server *server, uint64_t number, int fd);
bool client_is_there(const struct server *server, uint64_t number);

#endif
