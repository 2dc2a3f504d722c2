// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/loop.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull

uint64_t loop_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

int loop_init(struct loop *loop)
{
	*loop = (struct loop){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	return loop->epoll_fd < 0 ? -errno : 0;
}

void loop_release(struct loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int loop_add(struct loop *loop, struct loop_fd *source, uint32_t events)
{
	struct epoll_event want = { .events = events, .data.ptr = source };

	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, source->fd, &want) < 0 ? -errno : 0;
}

void loop_want(struct loop *loop, struct loop_fd *source, uint32_t events)
{
	struct epoll_event want = { .events = events, .data.ptr = source };

	epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &want);
}

void loop_remove(struct loop *loop, struct loop_fd *source)
{
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
}

void loop_timer_clear(struct loop *loop, struct loop_timer *timer)
{
	for (struct loop_timer **at = &loop->timers; *at; at = &(*at)->next) {
		if (*at == timer) {
			*at = timer->next;
			break;
		}
	}
	timer->at_ns = 0;
	timer->next = NULL;
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t in_ns)
{
	struct loop_timer **at = &loop->timers;

	loop_timer_clear(loop, timer);
	timer->at_ns = loop_now_ns() + in_ns;
	while (*at && (*at)->at_ns <= timer->at_ns)	/* few of them: a list will do */
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
}

/* Timers that are due, as of one moment, so that one which sets itself for now cannot keep the loop. */
static void run_timers(struct loop *loop)
{
	uint64_t now = loop_now_ns();

	while (loop->timers && loop->timers->at_ns <= now && !loop->stop) {
		struct loop_timer *timer = loop->timers;

		loop_timer_clear(loop, timer);
		timer->due(timer->ctx);
	}
}

static int timeout_ms(const struct loop *loop)
{
	uint64_t now, ms;

	if (!loop->timers)
		return -1;
	now = loop_now_ns();
	if (loop->timers->at_ns <= now)
		return 0;
	ms = (loop->timers->at_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

int loop_run(struct loop *loop)
{
	while (!loop->stop) {
		struct epoll_event event;
		int nr = epoll_wait(loop->epoll_fd, &event, 1, timeout_ms(loop));

		if (nr < 0 && errno != EINTR)
			return -errno;
		if (nr > 0) {
			struct loop_fd *source = event.data.ptr;

			source->ready(source->ctx, event.events);
		}
		run_timers(loop);
	}
	return 0;
}
