/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RS_REPLAY_START_LAGS_H
#define RS_REPLAY_START_LAGS_H

#include "replay/shadow.h"

/*
 * What tasks that slept when the recording began were owed then decides who runs first once they wake (start_lags.c).
 *
 * rs_start_lags_event() - take an event of the beginning, with the stamps of the workload; later ones are passed over. Return: 0; -ENOMEM.
 * rs_start_lags_find() - fill in rs_program.start_vlag_ns. @names: of the trace. Return: 0, also when nothing can be found; -ENOMEM.
 */
int rs_start_lags_event(struct rs_shadow_log *log, const struct resched_event *event);
int rs_start_lags_find(struct rs_shadow_log *log, struct resched_workload *workload, struct resched_names *names);

#endif
