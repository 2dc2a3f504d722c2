// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/samples.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

unsigned int rs_hist_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < 2u << RS_HIST_SUB_BITS)
		return (unsigned int)ns;	/* one bucket a nanosecond */
	shift = 63u - (unsigned int)__builtin_clzll(ns) - RS_HIST_SUB_BITS;
	return (shift << RS_HIST_SUB_BITS) + (unsigned int)(ns >> shift);
}

uint64_t rs_hist_value(unsigned int bucket)
{
	unsigned int shift;
	uint64_t low;

	if (bucket < 2u << RS_HIST_SUB_BITS)
		return bucket;
	shift = (bucket >> RS_HIST_SUB_BITS) - 1;
	low = (uint64_t)(bucket - (shift << RS_HIST_SUB_BITS)) << shift;
	return low + (1ull << shift >> 1);
}

static int hist_add(struct rs_hist *h, unsigned int bucket, uint64_t n)
{
	uint64_t **block = &h->blocks[bucket / RS_HIST_BLOCK];

	if (!*block) {
		*block = calloc(RS_HIST_BLOCK, sizeof(**block));
		if (!*block)
			return -ENOMEM;
	}
	(*block)[bucket % RS_HIST_BLOCK] += n;
	return 0;
}

static void hist_free(struct rs_hist *h)
{
	if (!h)
		return;
	for (unsigned int i = 0; i < RS_HIST_BLOCKS; i++)
		free(h->blocks[i]);
	free(h);
}

/* A new histogram of the given samples; NULL: no memory. */
static struct rs_hist *hist_of(const uint32_t *narrow, size_t nr_narrow, const uint64_t *wide, size_t nr_wide)
{
	struct rs_hist *h = calloc(1, sizeof(*h));
	int rc = h ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr_narrow && rc == 0; i++)
		rc = hist_add(h, rs_hist_bucket(narrow[i]), 1);
	for (size_t i = 0; i < nr_wide && rc == 0; i++)
		rc = hist_add(h, rs_hist_bucket(wide[i]), 1);
	if (rc == 0)
		return h;
	hist_free(h);
	return NULL;
}

static int hist_merge(struct rs_hist *to, const struct rs_hist *from)
{
	for (unsigned int b = 0; b < RS_HIST_BLOCKS; b++) {
		for (unsigned int i = 0; from->blocks[b] && i < RS_HIST_BLOCK; i++) {
			int rc = from->blocks[b][i] ? hist_add(to, b * RS_HIST_BLOCK + i, from->blocks[b][i]) : 0;

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int store_narrow(struct rs_samples *s, uint32_t ns)
{
	if (s->nr_narrow == s->cap_narrow) {
		uint32_t cap = s->cap_narrow ? s->cap_narrow * 2 : 16;
		uint32_t *more = realloc(s->narrow, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->narrow = more;
		s->cap_narrow = cap;
	}
	s->narrow[s->nr_narrow++] = ns;
	return 0;
}

static int store_wide(struct rs_samples *s, uint64_t ns)
{
	if (s->nr_wide == s->cap_wide) {
		uint32_t cap = s->cap_wide ? s->cap_wide * 2 : 4;
		uint64_t *more = realloc(s->wide, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->wide = more;
		s->cap_wide = cap;
	}
	s->wide[s->nr_wide++] = ns;
	return 0;
}

int rs_samples_add_slow(struct rs_samples *s, uint64_t ns)
{
	int rc;

	if (s->hist)
		rc = hist_add(s->hist, rs_hist_bucket(ns), 1);
	else if (ns > UINT32_MAX)
		rc = store_wide(s, ns);
	else
		rc = store_narrow(s, (uint32_t)ns);
	if (rc < 0)
		return rc;
	s->sum += ns;
	s->min = s->count == 0 || ns < s->min ? ns : s->min;
	s->max = ns > s->max ? ns : s->max;
	s->count++;
	return 0;
}

static void samples_drop(struct rs_samples *s)
{
	free(s->narrow);
	free(s->wide);
	s->narrow = NULL;
	s->wide = NULL;
	s->nr_narrow = s->cap_narrow = s->nr_wide = s->cap_wide = 0;
}

int rs_samples_to_hist(struct rs_samples *s)
{
	if (s->hist)
		return 0;
	s->hist = hist_of(s->narrow, s->nr_narrow, s->wide, s->nr_wide);
	if (!s->hist)
		return -ENOMEM;
	samples_drop(s);
	return 0;
}

void rs_samples_release(struct rs_samples *s)
{
	samples_drop(s);
	hist_free(s->hist);
	memset(s, 0, sizeof(*s));
}

void rs_merge_clear(struct rs_merge *m)
{
	hist_free(m->hist);
	m->hist = NULL;
	m->nr_narrow = m->nr_wide = 0;
	m->count = m->sum = m->min = m->max = 0;
}

void rs_merge_release(struct rs_merge *m)
{
	hist_free(m->hist);
	free(m->narrow);
	free(m->wide);
	memset(m, 0, sizeof(*m));
}

/* Makes room for @more elements behind @nr; grows by half again at least. */
static void *reserve(void *array, size_t nr, size_t more, size_t *cap, size_t size)
{
	size_t want = nr + more;
	void *grown;

	if (want <= *cap)
		return array;
	if (want < *cap + *cap / 2)
		want = *cap + *cap / 2;
	grown = realloc(array, want * size);
	if (grown)
		*cap = want;
	return grown;
}

static int merge_exact(struct rs_merge *m, const struct rs_samples *s)
{
	if (s->nr_narrow) {
		uint32_t *narrow = reserve(m->narrow, m->nr_narrow, s->nr_narrow, &m->cap_narrow, sizeof(*narrow));

		if (!narrow)
			return -ENOMEM;
		m->narrow = narrow;
		memcpy(narrow + m->nr_narrow, s->narrow, s->nr_narrow * sizeof(*narrow));
		m->nr_narrow += s->nr_narrow;
	}
	if (s->nr_wide) {
		uint64_t *wide = reserve(m->wide, m->nr_wide, s->nr_wide, &m->cap_wide, sizeof(*wide));

		if (!wide)
			return -ENOMEM;
		m->wide = wide;
		memcpy(wide + m->nr_wide, s->wide, s->nr_wide * sizeof(*wide));
		m->nr_wide += s->nr_wide;
	}
	return 0;
}

static int merge_hist(struct rs_merge *m, const struct rs_samples *s)
{
	int rc = 0;

	if (!m->hist) {
		m->hist = hist_of(m->narrow, m->nr_narrow, m->wide, m->nr_wide);
		if (!m->hist)
			return -ENOMEM;
		m->nr_narrow = m->nr_wide = 0;
	}
	if (s->hist)
		return hist_merge(m->hist, s->hist);
	for (uint32_t i = 0; i < s->nr_narrow && rc == 0; i++)
		rc = hist_add(m->hist, rs_hist_bucket(s->narrow[i]), 1);
	for (uint32_t i = 0; i < s->nr_wide && rc == 0; i++)
		rc = hist_add(m->hist, rs_hist_bucket(s->wide[i]), 1);
	return rc;
}

int rs_merge_add(struct rs_merge *m, const struct rs_samples *s)
{
	int rc;

	if (!s->count)
		return 0;
	rc = m->hist || s->hist ? merge_hist(m, s) : merge_exact(m, s);
	if (rc < 0)
		return rc;
	m->sum += s->sum;
	m->min = m->count == 0 || s->min < m->min ? s->min : m->min;
	m->max = s->max > m->max ? s->max : m->max;
	m->count += s->count;
	return 0;
}

uint64_t rs_rank(double q, uint64_t n)
{
	double exact = q * (double)n;
	uint64_t rank = (uint64_t)exact;

	if ((double)rank < exact)
		rank++;
	if (rank == 0)
		rank = 1;
	return rank > n ? n - 1 : rank - 1;
}

static int compare_narrow(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_wide(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t median3(uint32_t a, uint32_t b, uint32_t c)
{
	if (a > b) {
		uint32_t swap = a;

		a = b;
		b = swap;
	}
	return c < a ? a : c > b ? b : c;
}

/* A pivot near the median: of three medians of three, spread over the range. */
static uint32_t pivot_of(const uint32_t *v, size_t lo, size_t hi)
{
	size_t step = (hi - lo) / 8;
	const uint32_t *p = v + lo;

	return median3(median3(p[0], p[step], p[2 * step]), median3(p[3 * step], p[4 * step], p[5 * step]),
		       median3(p[6 * step], p[7 * step], v[hi - 1]));
}

/*
 * Puts the element of rank @k of v[lo..hi) in its place, smaller ones before it and larger ones behind it.
 * Linear for all inputs seen in practice; after too many rounds the rest is sorted, so never quadratic.
 */
static uint32_t select_narrow(uint32_t *v, size_t lo, size_t hi, size_t k)
{
	unsigned int rounds = 0;

	assert(lo <= k && k < hi);
	while (hi - lo > 32 && rounds++ < 64) {
		uint32_t pivot = pivot_of(v, lo, hi);
		size_t below = lo, i = lo, above = hi;

		while (i < above) {	/* smaller | equal | not yet seen | larger */
			uint32_t x = v[i];

			if (x < pivot) {
				v[i++] = v[below];
				v[below++] = x;
			} else if (x > pivot) {
				v[i] = v[--above];
				v[above] = x;
			} else {
				i++;
			}
		}
		if (k < below)
			hi = below;
		else if (k >= above)
			lo = above;
		else
			return pivot;
	}
	qsort(v + lo, hi - lo, sizeof(*v), compare_narrow);
	return v[k];
}

static const double quantiles[4] = { .50, .90, .99, .999 };

/*
 * Among many samples four ranks are found in two passes: count by coarse buckets, then look only at those that hold a rank.
 */
#define COARSE_BITS 6u
#define COARSE_BUCKETS ((32u - COARSE_BITS + 1u) << COARSE_BITS)
#define COARSE_WORTH 1024u	/* samples below which selecting in place is as quick */

static unsigned int coarse_bucket(uint32_t ns)
{
	unsigned int shift;

	if (ns < 2u << COARSE_BITS)
		return ns;
	shift = 31u - (unsigned int)__builtin_clz(ns) - COARSE_BITS;
	return (shift << COARSE_BITS) + (ns >> shift);
}

/* Samples of one bucket that holds ranks. */
struct pick { unsigned int bucket; size_t below, nr, filled; uint32_t *samples; };

/* The bucket of @rank, as a new pick or one that is there already; ranks ascend. */
static unsigned int pick_for(struct pick *picks, unsigned int nr, const uint32_t *counts, size_t rank)
{
	unsigned int b = nr ? picks[nr - 1].bucket : 0;
	size_t below = nr ? picks[nr - 1].below : 0;

	while (below + counts[b] <= rank)
		below += counts[b++];
	if (nr && picks[nr - 1].bucket == b)
		return nr;
	picks[nr] = (struct pick){ .bucket = b, .below = below, .nr = counts[b] };
	return nr + 1;
}

static void gather(const struct rs_merge *m, struct pick *picks, unsigned int nr)
{
	uint8_t which[COARSE_BUCKETS] = { 0 };

	for (unsigned int p = 0; p < nr; p++)
		which[picks[p].bucket] = (uint8_t)(p + 1);
	for (size_t i = 0; i < m->nr_narrow; i++) {
		unsigned int p = which[coarse_bucket(m->narrow[i])];

		if (p)
			picks[p - 1].samples[picks[p - 1].filled++] = m->narrow[i];
	}
}

/* Fills @out[0..nr_ranks) for ascending @ranks, all < m->nr_narrow. Return: false when there is no memory, nothing changed. */
static bool pick_ranks(const struct rs_merge *m, const size_t *ranks, unsigned int nr_ranks, uint64_t *const out[4])
{
	uint32_t counts[COARSE_BUCKETS] = { 0 }, *room;
	struct pick picks[4] = { 0 };
	unsigned int nr = 0, of[4];
	size_t total = 0;

	for (size_t i = 0; i < m->nr_narrow; i++)
		counts[coarse_bucket(m->narrow[i])]++;
	for (unsigned int r = 0; r < nr_ranks; r++) {
		nr = pick_for(picks, nr, counts, ranks[r]);
		of[r] = nr - 1;
	}
	for (unsigned int p = 0; p < nr; p++)
		total += picks[p].nr;
	room = malloc(total * sizeof(*room));
	if (!room)
		return false;
	for (unsigned int p = 0, at = 0; p < nr; at += (unsigned int)picks[p].nr, p++)
		picks[p].samples = room + at;
	gather(m, picks, nr);
	for (unsigned int r = 0; r < nr_ranks; r++) {
		const struct pick *p = &picks[of[r]];

		*out[r] = select_narrow(p->samples, 0, p->nr, ranks[r] - p->below);
	}
	free(room);
	return true;
}

static void dist_exact(struct rs_merge *m, uint64_t *const out[4])
{
	size_t ranks[4], lo = 0;
	unsigned int nr = 0;

	if (m->nr_wide)
		qsort(m->wide, m->nr_wide, sizeof(*m->wide), compare_wide);
	for (unsigned int i = 0; i < 4; i++) {
		ranks[i] = rs_rank(quantiles[i], m->count);
		if (ranks[i] < m->nr_narrow)
			nr = i + 1;
		else	/* every wide sample is larger than every narrow one */
			*out[i] = m->wide[ranks[i] - m->nr_narrow];
	}
	if (m->nr_narrow >= COARSE_WORTH && m->nr_narrow < UINT32_MAX && pick_ranks(m, ranks, nr, out))
		return;
	for (unsigned int i = 0; i < nr; i++) {
		*out[i] = select_narrow(m->narrow, lo, m->nr_narrow, ranks[i]);
		lo = ranks[i];
	}
}

static void dist_hist(const struct rs_merge *m, uint64_t *const out[4])
{
	uint64_t seen = 0;
	unsigned int next = 0;

	for (unsigned int b = 0; b < RS_HIST_BLOCKS && next < 4; b++) {
		for (unsigned int i = 0; m->hist->blocks[b] && i < RS_HIST_BLOCK && next < 4; i++) {
			uint64_t value = rs_hist_value(b * RS_HIST_BLOCK + i);

			seen += m->hist->blocks[b][i];
			for (; next < 4 && seen > rs_rank(quantiles[next], m->count); next++)
				*out[next] = value < m->min ? m->min : value > m->max ? m->max : value;
		}
	}
}

void rs_merge_dist(struct rs_merge *m, struct resched_dist *ret)
{
	uint64_t *const out[4] = { &ret->p50, &ret->p90, &ret->p99, &ret->p999 };

	memset(ret, 0, sizeof(*ret));
	if (!m->count)
		return;
	ret->count = m->count;
	ret->sum = m->sum;
	ret->min = m->min;
	ret->max = m->max;
	ret->mean = (double)m->sum / (double)m->count;
	if (m->hist)
		dist_hist(m, out);
	else
		dist_exact(m, out);
}

int rs_merge_sorted(const struct rs_merge *m, uint64_t **ret)
{
	uint64_t *all = malloc((m->count + 1) * sizeof(*all));
	size_t nr = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_narrow; i++)
		all[nr++] = m->narrow[i];
	for (size_t i = 0; i < m->nr_wide; i++)
		all[nr++] = m->wide[i];
	for (unsigned int b = 0; m->hist && b < RS_HIST_BUCKETS; b++) {
		const uint64_t *block = m->hist->blocks[b / RS_HIST_BLOCK];

		for (uint64_t n = block ? block[b % RS_HIST_BLOCK] : 0; n; n--)
			all[nr++] = rs_hist_value(b);
	}
	qsort(all, nr, sizeof(*all), compare_wide);
	*ret = all;
	return 0;
}
