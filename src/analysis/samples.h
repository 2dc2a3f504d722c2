/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The waits of one task and one kind, and their distributions.
 *
 * A store keeps every sample, 4 bytes each (8 for the rare ones of 2^32 ns and more), until it is told to become a histogram:
 * log-linear, 1024 buckets an octave, so that the middle of a bucket is within 0.05 % of every sample in it. Count, sum, smallest
 * and largest are always exact. A zeroed struct is an empty store.
 */
#ifndef RS_ANALYSIS_SAMPLES_H
#define RS_ANALYSIS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>
#include <resched/analysis.h>

#define RS_HIST_SUB_BITS 10u
#define RS_HIST_BLOCK 128u	/* buckets allocated together */
#define RS_HIST_BUCKETS ((64u - RS_HIST_SUB_BITS + 1u) << RS_HIST_SUB_BITS)
#define RS_HIST_BLOCKS (RS_HIST_BUCKETS / RS_HIST_BLOCK)

struct rs_hist { uint64_t *blocks[RS_HIST_BLOCKS]; };

struct rs_samples {
	uint32_t *narrow;	/* samples < 2^32 ns, in order of arrival */
	uint64_t *wide;		/* the others */
	struct rs_hist *hist;	/* once set, @narrow and @wide are empty */
	uint32_t nr_narrow, cap_narrow, nr_wide, cap_wide;
	uint64_t count, sum, min, max;
};

/* Samples of many stores together; scratch space that is used again and again. Zeroed = empty. */
struct rs_merge {
	uint32_t *narrow;
	uint64_t *wide;
	struct rs_hist *hist;	/* set as soon as one of the merged stores is a histogram */
	size_t nr_narrow, cap_narrow, nr_wide, cap_wide;
	uint64_t count, sum, min, max;
};

/* rs_samples_add_slow() - the general case of rs_samples_add(). Return: 0; -ENOMEM. */
int rs_samples_add_slow(struct rs_samples *s, uint64_t ns);

static inline int rs_samples_add(struct rs_samples *s, uint64_t ns)
{
	if (s->nr_narrow == s->cap_narrow || ns > UINT32_MAX)
		return rs_samples_add_slow(s, ns);
	s->narrow[s->nr_narrow++] = (uint32_t)ns;
	s->sum += ns;
	s->min = s->count == 0 || ns < s->min ? ns : s->min;
	s->max = ns > s->max ? ns : s->max;
	s->count++;
	return 0;
}

/* rs_samples_to_hist() - give up the single samples. Return: 0; -ENOMEM, then @s is unchanged. */
int rs_samples_to_hist(struct rs_samples *s);
void rs_samples_release(struct rs_samples *s);

void rs_merge_clear(struct rs_merge *m);	/* empty again; keeps its memory */
void rs_merge_release(struct rs_merge *m);
int rs_merge_add(struct rs_merge *m, const struct rs_samples *s);	/* Return: 0; -ENOMEM */
/* rs_merge_dist() - nearest-rank percentiles by selection, O(n); reorders the samples inside @m. */
void rs_merge_dist(struct rs_merge *m, struct resched_dist *ret);

/* rs_merge_sorted() - all m->count samples, ascending; of a histogram the middles of their buckets. @ret: the caller's to free().
 * Return: 0; -ENOMEM. */
int rs_merge_sorted(const struct rs_merge *m, uint64_t **ret);

/* rs_rank() - index of percentile @q (0..1) among @n > 0 sorted samples: ceil(q * n) - 1. */
uint64_t rs_rank(double q, uint64_t n);

unsigned int rs_hist_bucket(uint64_t ns);
uint64_t rs_hist_value(unsigned int bucket);	/* middle of a bucket */

#endif
