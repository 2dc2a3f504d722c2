// SPDX-License-Identifier: GPL-2.0-only
#include "capture/slow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_MIN_NS 1000000000ull
#define HOLD_TIMES 20u		/* thresholds */
#define MEAN_BYTES 32u		/* of a record, at least */

int rs_slow_init(struct rs_slow *slow, uint64_t threshold_ns, unsigned int nr_cpus, uint64_t bytes, rs_slow_fn emit, void *ctx)
{
	*slow = (struct rs_slow){ .threshold_ns = threshold_ns, .emit = emit, .ctx = ctx, .size = bytes, .room = bytes / MEAN_BYTES };
	slow->hold_ns = threshold_ns * HOLD_TIMES > HOLD_MIN_NS ? threshold_ns * HOLD_TIMES : HOLD_MIN_NS;
	slow->bytes = malloc(bytes);
	slow->entries = malloc(slow->room * sizeof(*slow->entries));
	slow->gap = calloc(nr_cpus ? nr_cpus : 1, sizeof(*slow->gap));
	if (slow->bytes && slow->entries && slow->gap)
		return 0;
	rs_slow_release(slow);
	return -ENOMEM;
}

static struct rs_slow_entry *entry(const struct rs_slow *slow, uint64_t idx)
{
	return &slow->entries[idx % slow->room];
}

static const struct rs_bpf_head *record(const struct rs_slow *slow, uint64_t idx)
{
	return (const struct rs_bpf_head *)(const void *)(slow->bytes + entry(slow, idx)->at % slow->size);
}

/* The oldest one goes: into the recording or nowhere. */
static int let_go(struct rs_slow *slow)
{
	const struct rs_bpf_head *head = record(slow, slow->first);
	struct rs_slow_entry *e = entry(slow, slow->first++);
	int rc = 0;

	if (e->keep) {
		rc = slow->emit(slow->ctx, e->cpu, head, e->len, slow->gap[e->cpu]);
		slow->gap[e->cpu] = false;
	} else {
		slow->gap[e->cpu] = true;
	}
	slow->tail = slow->first == slow->next ? slow->head : entry(slow, slow->first)->at;
	return rc;
}

/* Room for a record in one piece. Return: where; -errno of emit() in *@rc. */
static uint64_t make_room(struct rs_slow *slow, uint32_t len, int *rc)
{
	uint64_t bytes = (len + 7u) & ~7u, at = slow->head;

	if (at % slow->size + bytes > slow->size)
		at += slow->size - at % slow->size;
	*rc = 0;
	while (*rc == 0 && slow->first < slow->next && (at + bytes - slow->tail > slow->size || slow->next - slow->first == slow->room))
		*rc = let_go(slow);
	slow->head = at + bytes;
	if (slow->first == slow->next)
		slow->tail = at;
	return at;
}

static bool is_always_kept(const struct rs_bpf_head *head)
{
	switch (head->kind) {
	case RS_BPF_SWITCH:
	case RS_BPF_WAKING:
	case RS_BPF_WAKEUP:
	case RS_BPF_WAKEUP_NEW:
	case RS_BPF_MIGRATE:
	case RS_BPF_RUNTIME:
	case RS_BPF_TRUTH:
		return false;
	default:
		return true;	/* names, and losses */
	}
}

static uint64_t *woken(struct rs_slow *slow, int32_t pid)
{
	uint32_t at = rs_map_get(&slow->index, (uint32_t)pid);

	if (at != RS_MAP_NONE)
		return &slow->woken_ns[at];
	if (slow->nr == slow->nr_room) {
		uint32_t room = slow->nr_room ? 2 * slow->nr_room : 256;
		uint64_t *grown = realloc(slow->woken_ns, room * sizeof(*grown));

		if (!grown)
			return NULL;
		slow->woken_ns = grown;
		slow->nr_room = room;
	}
	if (rs_map_set(&slow->index, (uint32_t)pid, slow->nr) < 0)
		return NULL;
	slow->woken_ns[slow->nr] = 0;
	return &slow->woken_ns[slow->nr++];
}

static bool is_waking_of(const struct rs_bpf_head *head, int32_t pid)
{
	return (head->kind == RS_BPF_WAKING || head->kind == RS_BPF_WAKEUP || head->kind == RS_BPF_WAKEUP_NEW) &&
	       ((const struct rs_bpf_wake *)(const void *)head)->pid == pid;
}

/* Keep what belongs to the wait of @pid, woken at @since, that ended just now on @cpu; rows of one moment stay together. */
static void keep_window(struct rs_slow *slow, unsigned int cpu, int32_t pid, uint64_t since)
{
	uint64_t idx = slow->next, begin_ns = 0;

	slow->slow++;
	while (idx-- > slow->first) {
		const struct rs_bpf_head *head = record(slow, idx);
		struct rs_slow_entry *e = entry(slow, idx);

		if (begin_ns && head->ts_ns < begin_ns)
			break;
		if (e->cpu == cpu || (head->ts_ns >= since && is_waking_of(head, pid)))
			e->keep = true;
		/* who ran when it was woken */
		if (e->cpu == cpu && head->ts_ns < since && head->kind == RS_BPF_SWITCH && !begin_ns)
			begin_ns = head->ts_ns;
	}
}

static int follow(struct rs_slow *slow, unsigned int cpu, const struct rs_bpf_head *head)
{
	const struct rs_bpf_wake *wake = (const void *)head;
	const struct rs_bpf_switch *sw = (const void *)head;
	uint64_t *since;

	switch (head->kind) {
	case RS_BPF_WAKING:
	case RS_BPF_WAKEUP:
	case RS_BPF_WAKEUP_NEW:
		since = woken(slow, wake->pid);
		if (!since)
			return -ENOMEM;
		if (!*since)
			*since = head->ts_ns;
		return 0;
	case RS_BPF_SWITCH:
		since = woken(slow, head->pid);
		if (since)
			*since = 0;	/* woken while it ran */
		since = sw->next_pid ? woken(slow, sw->next_pid) : NULL;
		if (since && *since && head->ts_ns - *since >= slow->threshold_ns)
			keep_window(slow, cpu, sw->next_pid, *since);
		if (since)
			*since = 0;
		return 0;
	default:
		return 0;
	}
}

int rs_slow_put(struct rs_slow *slow, unsigned int cpu, const struct rs_bpf_head *head, uint32_t len)
{
	uint64_t at;
	int rc;

	if (len > slow->size / 2)
		return -EINVAL;
	at = make_room(slow, len, &rc);
	if (rc < 0)
		return rc;
	memcpy(slow->bytes + at % slow->size, head, len);
	*entry(slow, slow->next++) = (struct rs_slow_entry){ .at = at, .len = len, .cpu = (uint16_t)cpu, .keep = is_always_kept(head) };
	return follow(slow, cpu, head);
}

int rs_slow_pass(struct rs_slow *slow, uint64_t now_ns)
{
	int rc = 0;

	while (rc == 0 && slow->first < slow->next && (now_ns == UINT64_MAX || record(slow, slow->first)->ts_ns + slow->hold_ns < now_ns))
		rc = let_go(slow);
	return rc;
}

void rs_slow_release(struct rs_slow *slow)
{
	free(slow->bytes);
	free(slow->entries);
	free(slow->gap);
	free(slow->woken_ns);
	rs_map_release(&slow->index);
	memset(slow, 0, sizeof(*slow));
}
