// SPDX-License-Identifier: GPL-2.0-only
/*
 * hackbench (rt-tests; `perf bench sched messaging`): groups of senders and receivers, each sender writing to each receiver in turn.
 * And cyclictest with hackbench as its load.
 *
 * A message is a counted wake. A channel that is full stops its writers: a sender may be some rounds ahead of the receiver of its own
 * number, who lets it go on by one for every round it has read. The rounds ahead are what fits into the channel.
 */
#include "replay/synth.h"

#define MS 1000000u
#define US 1000u

#define PIPE_PAGES 16u
#define PAGE_BYTES 4096u
#define SOCKET_BUFFER_BYTES 212992u	/* net.core.wmem_default */
#define SOCKET_OVERHEAD_BYTES 666u	/* of a small datagram: some 278 of 100 bytes fit */
#define JITTER_PERCENT 10u
#define GO_NS (1 * MS)
#define FORK_NS (1 * US)		/* the parent's part in waking one of all */
#define LONGEST_NS (3600ull * 1000 * MS)	/* it ends when all have ended */

struct hackbench { uint64_t groups, fds, loops, bytes, pipe, send_ns, receive_ns; };

static uint64_t rounds_ahead(const struct hackbench *h)
{
	uint64_t messages = h->pipe ? PIPE_PAGES * (h->bytes < PAGE_BYTES ? PAGE_BYTES / h->bytes : 1)
				    : SOCKET_BUFFER_BYTES / (h->bytes + SOCKET_OVERHEAD_BYTES);
	uint64_t rounds = messages / h->fds;

	return rounds ? rounds : 1;
}

static void send_round(struct rs_synth *s, const struct hackbench *h, uint32_t sender, uint32_t first_receiver)
{
	for (uint32_t i = 0; i < h->fds; i++)
		rs_synth_wake(s, sender, rs_synth_about(s, h->send_ns, JITTER_PERCENT), first_receiver + i, RS_WAKE_COUNTED);
}

static void end(struct rs_synth *s, uint32_t task, uint32_t parent)
{
	rs_synth_wake(s, task, 1 * US, parent, RS_WAKE_COUNTED);
	rs_synth_op(s, task, 0, RS_OP_EXIT);
}

static void sender(struct rs_synth *s, const struct hackbench *h, uint32_t parent, uint32_t task, uint32_t own_receiver, uint32_t first_receiver)
{
	uint64_t ahead = rounds_ahead(h), free_rounds = ahead < h->loops ? ahead : h->loops;
	uint32_t from;

	rs_synth_wait(s, task, 0, parent, GO_NS);
	send_round(s, h, task, first_receiver);
	rs_synth_repeat(s, task, 1, free_rounds);
	if (h->loops > free_rounds && !s->failed) {
		from = rs_synth_program(s, task)->nr_ops;
		rs_synth_wait(s, task, 0, own_receiver, 0);
		send_round(s, h, task, first_receiver);
		rs_synth_repeat(s, task, from, h->loops - free_rounds);
	}
	end(s, task, parent);
}

static void receiver(struct rs_synth *s, const struct hackbench *h, uint32_t parent, uint32_t task, uint32_t own_sender)
{
	uint64_t run = 0;

	rs_synth_wait(s, task, 0, parent, GO_NS);
	for (uint32_t i = 0; i < h->fds; i++) {
		rs_synth_wait(s, task, run, own_sender, 0);
		run = rs_synth_about(s, h->receive_ns, JITTER_PERCENT);
	}
	rs_synth_wake(s, task, run, own_sender, RS_WAKE_COUNTED);
	rs_synth_repeat(s, task, 1, h->loops);
	end(s, task, parent);
}

static void group(struct rs_synth *s, const struct hackbench *h, uint32_t parent)
{
	uint32_t receivers = s->workload->nr_tasks, senders = receivers + (uint32_t)h->fds;

	for (uint64_t i = 0; i < 2 * h->fds; i++)
		rs_synth_task(s, "hackbench", 0);
	for (uint32_t i = 0; i < h->fds && !s->failed; i++)
		receiver(s, h, parent, receivers + i, senders + i);
	for (uint32_t i = 0; i < h->fds && !s->failed; i++)
		sender(s, h, parent, senders + i, receivers + i, receivers);
}

static void make_groups(struct rs_synth *s, const struct hackbench *h)
{
	uint32_t parent = rs_synth_task(s, "hackbench", 0), first;
	uint64_t workers = 2 * h->fds * h->groups;

	for (uint64_t g = 0; g < h->groups && !s->failed; g++)
		group(s, h, parent);
	rs_synth_sleep(s, parent, 0, GO_NS);
	for (uint64_t i = 0; i < workers && !s->failed; i++)
		rs_synth_wake(s, parent, FORK_NS, parent + 1 + (uint32_t)i, RS_WAKE_COUNTED);
	if (s->failed)
		return;
	first = rs_synth_program(s, parent)->nr_ops;
	rs_synth_wait(s, parent, 1 * US, parent + 1, 0);
	rs_synth_repeat(s, parent, first, workers);
	rs_synth_op(s, parent, 10 * US, RS_OP_EXIT);
}

enum { H_GROUPS, H_LOOPS, H_FDS, H_DATASIZE, H_PIPE, H_SEND, H_RECEIVE };

static const struct rs_synth_param hackbench_params[] = {
	{ "groups", 'g', RS_PARAM_COUNT, "10", 0, 1, 4096, "groups of senders and receivers" },
	{ "loops", 'l', RS_PARAM_COUNT, "100", 0, 1, 1000000000, "rounds a sender makes" },
	{ "fds", 'f', RS_PARAM_COUNT, "20", 0, 1, 1000, "senders, and as many receivers, in a group" },
	{ "datasize", 's', RS_PARAM_COUNT, "100", 0, 1, 1 << 20, "bytes of a message: how many fit into a channel" },
	{ "pipe", 'p', RS_PARAM_FLAG, "0", 0, 0, 1, "pipes instead of sockets: more fits in" },
	{ "send", 0, RS_PARAM_TIME, "700ns", 1, 1, 1000 * MS, "time on the cpu to send a message" },
	{ "receive", 0, RS_PARAM_TIME, "700ns", 1, 1, 1000 * MS, "time on the cpu to receive one" },
};

static void make_hackbench(struct rs_synth *s)
{
	const uint64_t *v = s->values;
	const struct hackbench h = { v[H_GROUPS], v[H_FDS], v[H_LOOPS], v[H_DATASIZE], v[H_PIPE], v[H_SEND], v[H_RECEIVE] };

	rs_synth_lasts(s, LONGEST_NS);
	make_groups(s, &h);
}

const struct rs_synth_maker rs_synth_hackbench = {
	.name = "hackbench", .about = "groups of senders and receivers of small messages; lasts until all are read",
	.nr_params = sizeof(hackbench_params) / sizeof(hackbench_params[0]), .params = hackbench_params, .make = make_hackbench,
};

/* ---- cyclictest ---- */

enum { C_THREADS, C_INTERVAL, C_DISTANCE, C_DURATION, C_NICE, C_RUN, C_GROUPS };

static const struct rs_synth_param cyclictest_params[] = {
	{ "threads", 't', RS_PARAM_COUNT, "1", 0, 1, 10000, "measuring threads" },
	{ "interval", 'i', RS_PARAM_TIME, "1000", US, US, 1000 * MS, "of the first thread; a bare number is us" },
	{ "distance", 'd', RS_PARAM_TIME, "500", US, 0, 1000 * MS, "by which each thread's interval is longer than the one's before" },
	{ "duration", 'D', RS_PARAM_TIME, "5", 1000 * MS, MS, LONGEST_NS, "how long it lasts; a bare number is seconds" },
	{ "nice", 0, RS_PARAM_NICE, "0", 0, 0, 0, "of the threads" },
	{ "run", 0, RS_PARAM_TIME, "3us", 1, 1, 1000 * MS, "time on the cpu a cycle" },
	{ "load", 'g', RS_PARAM_COUNT, "10", 0, 0, 4096, "groups of hackbench beside it" },
};

static void make_cyclictest(struct rs_synth *s)
{
	const struct hackbench load = { s->values[C_GROUPS], 20, 1000000, 100, 0, 700, 700 };

	rs_synth_lasts(s, s->values[C_DURATION]);
	for (uint64_t i = 0; i < s->values[C_THREADS]; i++) {
		uint64_t interval = s->values[C_INTERVAL] + i * s->values[C_DISTANCE];
		uint32_t task = rs_synth_task(s, "cyclictest", (int)(int64_t)s->values[C_NICE]);
		struct rs_op *op = rs_synth_op(s, task, s->values[C_RUN], RS_OP_BLOCK);

		op->rule = RS_RULE_PERIODIC;
		op->arg = RS_NO_TASK;
		op->len_ns = interval;
		op->when_ns = RS_SYNTH_FIRST_NS + interval;
		if (s->failed)
			return;
		rs_synth_program(s, task)->period_ns = interval;
		rs_synth_program(s, task)->phase_ns = RS_SYNTH_FIRST_NS;
		rs_synth_program(s, task)->loop_to = 0;
	}
	if (load.groups)
		make_groups(s, &load);
}

const struct rs_synth_maker rs_synth_cyclictest = {
	.name = "cyclictest", .about = "threads that sleep until the next of their instants, with hackbench beside them",
	.nr_params = sizeof(cyclictest_params) / sizeof(cyclictest_params[0]), .params = cyclictest_params, .make = make_cyclictest,
};
