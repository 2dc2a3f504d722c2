/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the schedule writer: writer.c makes records of events, writer_file.c a file of the pages. */
#ifndef RS_CAPTURE_WRITER_H
#define RS_CAPTURE_WRITER_H

#include <resched/writer.h>

#include "base/cpulist.h"
#include "capture/output.h"
#include "capture/page_writer.h"
#include "capture/spool.h"
#include "capture/writer_names.h"

#define RS_WR_PENDING 64u	/* names that wait for a record; one event brings a few */

struct rs_wr_cpu {
	struct rs_page_writer pages;	/* batch NULL: no event of this cpu yet */
	int32_t curr;			/* who runs there, as far as the events tell */
	bool open_gap;			/* a loss that no event has followed yet */
	uint64_t gap_ns, events, lost;
};

struct resched_writer {
	struct rs_output out;
	struct rs_spool spool;		/* one slot for every cpu there may be */
	struct rs_wr_cpu *cpus;		/* RS_MAX_CPUS */
	struct rs_wr_tasks tasks;
	const struct resched_host *host;
	const struct resched_names *names;
	char clock[32];
	unsigned int nr_cpus;		/* asked for */
	bool compress, finished;
	unsigned int nr_pending;
	struct resched_event pending[RS_WR_PENDING];
	struct resched_writer_result result;
	int failure;			/* first negative errno, sticky */
};

/* rs_wr_file() - the whole file from the spools, into writer->out. Return: 0; -errno. */
int rs_wr_file(struct resched_writer *writer, const struct resched_schedule *schedule, struct resched_error *err);

#endif
