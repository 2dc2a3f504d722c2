/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One epoll loop for everything; handlers never block. Descriptors are taken one at a time, so that a handler may remove any other.
 * Time is CLOCK_BOOTTIME: it never jumps, and goes on during suspend.
 */
#ifndef DAEMON_LOOP_H
#define DAEMON_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop_fd {
	int fd;
	void (*ready)(void *ctx, uint32_t events);	/* EPOLL* */
	void *ctx;
};

struct loop_timer {
	uint64_t at_ns;			/* 0: not set */
	void (*due)(void *ctx);		/* the timer is no longer set when this is called */
	void *ctx;
	struct loop_timer *next;
};

struct loop { int epoll_fd; bool stop; struct loop_timer *timers; };

uint64_t loop_now_ns(void);
int loop_init(struct loop *loop);	/* Return: 0; -errno */
void loop_release(struct loop *loop);

/* loop_add() - @source is borrowed until loop_remove(). Return: 0; -errno. */
int loop_add(struct loop *loop, struct loop_fd *source, uint32_t events);
void loop_want(struct loop *loop, struct loop_fd *source, uint32_t events);
void loop_remove(struct loop *loop, struct loop_fd *source);	/* the descriptor stays open */

/* loop_timer_set() - due @in_ns from now; sets anew what was set. */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t in_ns);
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);

/* loop_run() - until @stop is set. Return: 0; -errno. */
int loop_run(struct loop *loop);

#endif
