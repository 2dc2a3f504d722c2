// SPDX-License-Identifier: GPL-2.0-only
/* Requests that clients make of a server, and the line they stand in. */
#include "replay/engine_core.h"

static const struct rs_op unrecorded_request = { .kind = RS_OP_WAKE,
						 .rule = RS_WAKE_ASK,
						 .wake_clock_ns = RS_UNKNOWN,
						 .delay_ns = RS_UNKNOWN,
						 .clock_ns = RS_UNKNOWN,
						 .idle_clock_ns = RS_UNKNOWN };

/* @why: the recorded operation; NULL: the recording does not show it, the server did not sleep then. */
void rs_eng_ask(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *client, struct rs_runner *server, const struct rs_op *why)
{
	if (client->asks || server->dropped || server->state == RS_RUN_DEAD)
		return;
	if (!why)
		why = &unrecorded_request;
	client->asks = server;
	client->next_asking = NULL;
	if (server->last_asking)
		server->last_asking->next_asking = client;
	else
		server->first_asking = client;
	server->last_asking = client;
	if (server->state == RS_RUN_SLEEPING && server->awaits_requests) {
		rs_eng_wake_up(e, server, c, why, false);
		return;
	}
	server->token_why = why;
	server->token_ns = e->now_ns;
	server->token_cpu = c->rq.cpu;
}

/* Take out of the line who is answered next: @recorded if it asks, else who asked first. NULL: nobody. */
struct rs_runner *rs_eng_answer(struct rs_runner *server, struct rs_runner *recorded)
{
	struct rs_runner *client = recorded->asks == server ? recorded : server->first_asking;
	struct rs_runner *before = NULL;

	if (!client)
		return NULL;
	for (struct rs_runner *r = server->first_asking; r != client; r = r->next_asking)
		before = r;
	if (before)
		before->next_asking = client->next_asking;
	else
		server->first_asking = client->next_asking;
	if (server->last_asking == client)
		server->last_asking = before;
	client->asks = NULL;
	return client;
}

/* Nobody asks @server, which runs and is about to answer: it waits, then does the work for the answer. */
void rs_eng_await_request(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *server)
{
	server->op--; /* the waking goes on to the next operation; before the first one that wraps around, and back */
	server->place = (uint16_t)server->cpu;
	server->pull_to = RS_NO_CPU;
	server->special = 0;
	server->awaits_requests = 1;
	server->state = RS_RUN_SLEEPING;
	c->switch_clock_ns = RS_UNKNOWN;
	rs_eng_sleep_begins(e, server);
	rs_eng_schedule(e, c, LEAVES_TO_SLEEP, RESCHED_STATE_S);
}
