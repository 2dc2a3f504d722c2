// SPDX-License-Identifier: GPL-2.0-only
#include "trace/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_INTERPOLATE 1u	/* of TIME_SHIFT */

typedef __int128 wide;

void rs_times_release(struct rs_times *t)
{
	for (uint32_t i = 0; t->cpus && i < t->nr_cpus; i++)
		free(t->cpus[i].samples);
	free(t->cpus);
	memset(t, 0, sizeof(*t));
}

void rs_times_offset(struct rs_times *t, const char *text, struct rs_notes *notes)
{
	int64_t offset = (int64_t)strtoll(text, NULL, 0);

	t->offset = (int64_t)((uint64_t)t->offset + (uint64_t)offset);
	t->active |= offset != 0;
	if (offset)
		rs_note(notes, "the recording says to add %lld ns to its stamps", (long long)offset);
}

int rs_times_tsc(struct rs_times *t, struct rs_cursor *c, uint32_t size, struct rs_notes *notes)
{
	uint32_t mult, shift;

	if (size < 8)
		return 0;
	mult = rs_cursor_u32(c);
	shift = rs_cursor_u32(c);
	if (!mult || shift > 63) {
		rs_note_damage(notes, "the recording counts ticks of the x86-tsc clock, and how long one takes is damaged: times are ticks");
		return 0;
	}
	t->mult = mult;
	t->shift = shift;
	t->active = true;
	return 0;
}

static int read_cpu(struct rs_shift_cpu *cpu, struct rs_cursor *c, uint32_t nr)
{
	cpu->samples = calloc(nr, sizeof(*cpu->samples));
	if (!cpu->samples)
		return -ENOMEM;
	cpu->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		cpu->samples[i].time = (int64_t)rs_cursor_u64(c);
	for (uint32_t i = 0; i < nr; i++)
		cpu->samples[i].offset = (int64_t)rs_cursor_u64(c);
	for (uint32_t i = 0; i < nr; i++)
		cpu->samples[i].scaling = rs_cursor_u64(c);
	return 0;
}

/* Since 3.0 the fractions of the scalings follow, for all cpus. */
static void read_fractions(struct rs_times *t, struct rs_cursor *c, uint64_t left)
{
	for (uint32_t i = 0; i < t->nr_cpus; i++) {
		for (uint32_t k = 0; k < t->cpus[i].nr && left >= 8; k++, left -= 8) {
			uint64_t fraction = rs_cursor_u64(c);

			t->cpus[i].samples[k].fraction = fraction > 63 ? 63 : (uint32_t)fraction;
		}
	}
}

int rs_times_guest(struct rs_times *t, struct rs_cursor *c, uint32_t size, struct rs_notes *notes)
{
	uint64_t peer, left = size, nr_samples = 0;
	bool whole = size >= 16;
	uint32_t flags, nr;

	if (t->cpus)	/* the first counts */
		return 0;
	peer = rs_cursor_u64(c);
	flags = rs_cursor_u32(c);
	nr = rs_cursor_u32(c);
	left = whole ? left - 16 : 0;
	if (!peer || !nr)
		return 0;
	whole = whole && nr <= left / 4;
	t->cpus = whole ? calloc(nr, sizeof(*t->cpus)) : NULL;
	if (whole && !t->cpus)
		return -ENOMEM;
	t->nr_cpus = whole ? nr : 0;
	for (uint32_t i = 0; i < t->nr_cpus && whole; i++) {
		uint32_t samples = rs_cursor_u32(c);

		left -= left >= 4 ? 4 : left;
		nr_samples += samples;
		whole = samples && samples <= left / 24 && nr_samples <= RS_TIMES_MAX_SAMPLES;
		if (whole && read_cpu(&t->cpus[i], c, samples) < 0)
			return -ENOMEM;
		left -= whole ? (uint64_t)samples * 24 : 0;
		whole = whole && left >= (i + 1 < t->nr_cpus ? 4u : 0u);
	}
	if (!whole || c->bad) {
		struct rs_times none = { .active = t->active, .offset = t->offset, .mult = t->mult, .shift = t->shift };

		rs_times_release(t);
		*t = none;
		rs_note_damage(notes, "how this guest's clock differs from its host's is damaged: times are the guest's own");
		return 0;
	}
	read_fractions(t, c, left);
	t->interpolate = flags & FLAG_INTERPOLATE;
	t->active = true;
	rs_note(notes, "a guest's recording: its times are those of the host, %.6f s from its own on CPU0", (double)t->cpus[0].samples[0].offset / 1e9);
	return 0;
}

static uint64_t add(wide ts, wide by)
{
	wide sum = ts + by;

	return sum < 0 ? 0 : sum > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

static uint64_t guest(const struct rs_times *t, const struct rs_shift_cpu *cpu, uint64_t ts)
{
	const struct rs_shift *s = cpu->samples, *low, *high;
	uint32_t at = 0, end = cpu->nr - 1;	/* the stretch is from sample @at on, one of nr - 1 */
	wide by;

	while (at + 1 < end) {
		uint32_t mid = at + (end - at) / 2;

		if (s[mid].time <= (int64_t)ts)
			at = mid;
		else
			end = mid;
	}
	low = &s[at];
	high = cpu->nr > 1 ? &s[at + 1] : low;
	by = low->offset;
	if (t->interpolate && high->time > low->time) {
		wide delta = (wide)high->time - low->time;

		by += (((wide)ts - low->time) * ((wide)high->offset - low->offset) + delta / 2) / delta;
	}
	if (cpu->nr > 1 && (low->scaling != 1 || low->fraction))	/* of a single one trace-cmd takes the offset alone */
		ts = (uint64_t)(((unsigned __int128)ts * low->scaling) >> low->fraction);
	return add((wide)ts, by);
}

uint64_t rs_times_of(const struct rs_times *t, uint32_t cpu, uint64_t ts)
{
	if (cpu < t->nr_cpus)
		ts = guest(t, &t->cpus[cpu], ts);
	if (t->mult)
		ts = (uint64_t)(((unsigned __int128)ts * t->mult) >> t->shift);
	return add((wide)ts, t->offset);
}
