// SPDX-License-Identifier: GPL-2.0-only
#include "capture/bpf_early.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct rs_bpf_first {
	uint64_t ts_ns;
	int32_t pid;
	bool born;			/* with this record: there is no name from before */
	char comm[RS_BPF_COMM];
};

static struct rs_bpf_first *first_of(struct rs_bpf_early *early, int32_t pid)
{
	uint32_t at = rs_map_get(&early->index, (uint32_t)pid);

	if (at != RS_MAP_NONE)
		return &early->first[at];
	if (early->nr == early->size) {
		uint32_t size = early->size ? 2 * early->size : 64;
		struct rs_bpf_first *grown = realloc(early->first, size * sizeof(*grown));

		if (!grown)
			return NULL;
		early->first = grown;
		early->size = size;
	}
	if (rs_map_set(&early->index, (uint32_t)pid, early->nr) < 0)
		return NULL;
	early->first[early->nr] = (struct rs_bpf_first){ .ts_ns = UINT64_MAX, .pid = pid };
	return &early->first[early->nr++];
}

static void note(struct rs_bpf_early *early, uint64_t ts_ns, int32_t pid, const char *comm)
{
	struct rs_bpf_first *first = first_of(early, pid);

	if (!first) {
		early->failure = -ENOMEM;
		return;
	}
	if (ts_ns >= first->ts_ns)
		return;
	first->ts_ns = ts_ns;
	first->born = !comm;
	if (comm)
		memcpy(first->comm, comm, RS_BPF_COMM);
}

void rs_bpf_early_note(void *early, const struct rs_bpf_head *head, uint32_t len)
{
	const void *r = head;

	if (head->kind == RS_BPF_FORK && len >= sizeof(struct rs_bpf_fork))
		note(early, head->ts_ns, ((const struct rs_bpf_fork *)r)->child, NULL);
	else if (head->kind == RS_BPF_EXIT && len >= sizeof(struct rs_bpf_exit))
		note(early, head->ts_ns, ((const struct rs_bpf_exit *)r)->pid, ((const struct rs_bpf_exit *)r)->comm);
	else if (head->kind == RS_BPF_RENAME && len >= sizeof(struct rs_bpf_rename))
		note(early, head->ts_ns, ((const struct rs_bpf_rename *)r)->pid, ((const struct rs_bpf_rename *)r)->oldcomm);
	else if (head->kind == RS_BPF_CALLED && len >= sizeof(struct rs_bpf_called))
		note(early, head->ts_ns, ((const struct rs_bpf_called *)r)->pid, ((const struct rs_bpf_called *)r)->comm);
}

int rs_bpf_early_settle(struct rs_bpf_early *early, struct rs_bpf_events *ev)
{
	int rc = early->failure;

	for (uint32_t i = 0; i < early->nr && rc == 0; i++) {
		if (!early->first[i].born)
			rc = rs_bpf_events_name(ev, early->first[i].pid, early->first[i].comm);
	}
	rs_map_release(&early->index);
	free(early->first);
	memset(early, 0, sizeof(*early));
	return rc;
}
