// SPDX-License-Identifier: GPL-2.0-only
#include "trace/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ITEMS 2048u

struct batch {
	unsigned int nr;		/* items */
	bool ready;			/* filled and not yet taken */
	bool last;			/* the lane ends behind it, with @rc */
	int rc;
	struct rs_notes notes;		/* came with the last item, or with the end; so did */
	uint64_t bad_pages;
	struct rs_item items[BATCH_ITEMS];
};

struct feed {
	struct rs_lane *lane;
	struct batch *batches;		/* two */
	unsigned int fill;		/* the batch to fill next */
	unsigned int take, at;		/* the batch being taken out, and its next item */
	bool taking;			/* batches[take] is being taken out */
	bool filling;			/* a thread is at it */
	bool queued;
	bool done;			/* nothing is left to fill */
};

struct rs_ahead {
	pthread_mutex_t lock;		/* of all below, and of the flags of feeds and batches */
	pthread_cond_t work, ready;
	bool stop;
	unsigned int nr_feeds, nr_threads;
	struct feed *feeds;
	unsigned int *queue;		/* a ring of feeds to fill, each at most once */
	unsigned int head, nr_queued;
	pthread_t *threads;
};

static bool has_news(const struct batch *b)
{
	return b->bad_pages || b->notes.nr || b->notes.dropped || b->notes.damaged;
}

/*
 * A batch ends when it is full, behind an item that came with a warning, and behind the first item of another buffer: with two batches
 * that is as far as three buffers go.
 */
static void fill(struct rs_lane *lane, struct batch *b)
{
	uint64_t turn = lane->in.turns, bad = lane->own.bad_pages;

	lane->own.notes = &b->notes;
	b->nr = 0;
	b->last = false;
	while (b->nr < BATCH_ITEMS) {
		int rc = rs_lane_next(lane, &b->items[b->nr]);

		b->bad_pages = lane->own.bad_pages - bad;
		if (rc <= 0) {
			b->last = true;
			b->rc = rc;
			return;
		}
		b->nr++;
		lane->in.used = true;
		if (lane->in.turns != turn || has_news(b))
			return;
	}
}

/* Holding the lock: is there a batch to fill, and nobody at it? */
static bool wants_work(const struct feed *f)
{
	const struct batch *b = &f->batches[f->fill];

	return !f->filling && !f->done && !b->ready && !(f->taking && f->take == f->fill);
}

static void enqueue(struct rs_ahead *a, unsigned int i)
{
	struct feed *f = &a->feeds[i];

	if (f->queued || !wants_work(f))
		return;
	f->queued = true;
	a->queue[(a->head + a->nr_queued++) % a->nr_feeds] = i;
	pthread_cond_signal(&a->work);
}

/* Holding the lock, which is let go of meanwhile. */
static void fill_one(struct rs_ahead *a, unsigned int i)
{
	struct feed *f = &a->feeds[i];
	struct batch *b = &f->batches[f->fill];

	f->filling = true;
	pthread_mutex_unlock(&a->lock);
	fill(f->lane, b);
	pthread_mutex_lock(&a->lock);
	f->filling = false;
	f->done = b->last;
	b->ready = true;
	f->fill ^= 1;
	pthread_cond_broadcast(&a->ready);
	enqueue(a, i);
}

static void *worker(void *arg)
{
	struct rs_ahead *a = arg;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		unsigned int i;

		if (!a->nr_queued) {
			pthread_cond_wait(&a->work, &a->lock);
			continue;
		}
		i = a->queue[a->head];
		a->head = (a->head + 1) % a->nr_feeds;
		a->nr_queued--;
		a->feeds[i].queued = false;
		if (wants_work(&a->feeds[i]))	/* else the taker was faster */
			fill_one(a, i);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* The next batch of a feed. What it gave back may be filled again. */
static void turn_over(struct rs_ahead *a, unsigned int i)
{
	struct feed *f = &a->feeds[i];

	pthread_mutex_lock(&a->lock);
	if (f->taking) {
		f->taking = false;
		f->take ^= 1;
		enqueue(a, i);
	}
	while (!f->batches[f->take].ready) {
		if (wants_work(f))
			fill_one(a, i);
		else
			pthread_cond_wait(&a->ready, &a->lock);
	}
	f->batches[f->take].ready = false;
	f->taking = true;
	f->at = 0;
	pthread_mutex_unlock(&a->lock);
}

static void tell_news(struct batch *b, struct rs_stream_shared *sh)
{
	rs_notes_move(sh->notes, &b->notes);
	sh->bad_pages += b->bad_pages;
	b->bad_pages = 0;
}

int rs_ahead_next(struct rs_ahead *a, unsigned int lane, struct rs_item **ret, struct rs_stream_shared *sh)
{
	struct feed *f = &a->feeds[lane];
	struct batch *b = &f->batches[f->take];

	while (!f->taking || f->at == b->nr) {
		if (f->taking && b->last) {
			tell_news(b, sh);
			return b->rc;
		}
		turn_over(a, lane);
		b = &f->batches[f->take];
	}
	*ret = &b->items[f->at++];
	if (f->at == b->nr && !b->last && has_news(b))
		tell_news(b, sh);
	return 1;
}

/* A lane read by threads has what it used to share for itself. */
static void part(struct rs_lane *lane)
{
	lane->own = *lane->in.shared;
	lane->own.packed = NULL;
	lane->own.packed_room = 0;
	lane->own.held_bytes = lane->in.room;
	lane->own.bad_pages = lane->own.bad_chunks = 0;
	lane->in.shared->held_bytes -= lane->in.room;
	lane->in.shared = &lane->own;
	lane->in.rotates = lane->in.used = true;
}

static void free_parts(struct rs_ahead *a)
{
	for (unsigned int i = 0; a->feeds && i < a->nr_feeds; i++) {
		for (unsigned int k = 0; a->feeds[i].batches && k < 2; k++)
			rs_notes_release(&a->feeds[i].batches[k].notes);
		free(a->feeds[i].batches);
	}
	pthread_cond_destroy(&a->ready);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
	free(a->threads);
	free(a->queue);
	free(a->feeds);
	free(a);
}

/* Signals are the caller's: a thread of ours takes none. */
static int start(pthread_t *thread, struct rs_ahead *a)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, worker, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int rs_ahead_new(struct rs_lane *const *lanes, unsigned int nr_lanes, unsigned int nr_threads, struct rs_ahead **ret)
{
	struct rs_ahead *a = calloc(1, sizeof(*a));
	bool good;

	if (!a)
		return -ENOMEM;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->ready, NULL);
	a->nr_feeds = nr_lanes;
	a->feeds = calloc(nr_lanes, sizeof(*a->feeds));
	a->queue = calloc(nr_lanes, sizeof(*a->queue));
	a->threads = calloc(nr_threads, sizeof(*a->threads));
	good = a->feeds && a->queue && a->threads;
	for (unsigned int i = 0; good && i < nr_lanes; i++) {
		a->feeds[i].lane = lanes[i];
		a->feeds[i].batches = calloc(2, sizeof(*a->feeds[i].batches));
		good = a->feeds[i].batches != NULL;
	}
	if (!good) {
		free_parts(a);
		return -ENOMEM;
	}
	while (a->nr_threads < nr_threads && start(&a->threads[a->nr_threads], a) == 0)
		a->nr_threads++;
	if (!a->nr_threads) {
		free_parts(a);
		return -EAGAIN;
	}
	for (unsigned int i = 0; i < nr_lanes; i++)
		part(lanes[i]);
	pthread_mutex_lock(&a->lock);
	for (unsigned int i = 0; i < nr_lanes; i++)
		enqueue(a, i);
	pthread_mutex_unlock(&a->lock);
	*ret = a;
	return 0;
}

void rs_ahead_free(struct rs_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (unsigned int i = 0; i < a->nr_threads; i++)
		pthread_join(a->threads[i], NULL);
	free_parts(a);
}
