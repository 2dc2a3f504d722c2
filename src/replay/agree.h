/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does the model choose the cpus that the kernel chose? Along a shadow pass the model of the cpus (smp.h) is told what the recording
 * shows, and at each waking it is asked where the task goes.
 *
 * Queues, idle cpus and moves are the recorded ones; delayed tasks are those of the shadow; loads are the model's along the recorded
 * schedule, those of before the recording guessed. Whether a waker announced that it would sleep (sync) is not recorded: taken as no.
 */
#ifndef RS_REPLAY_AGREE_H
#define RS_REPLAY_AGREE_H

#include "replay/shadow.h"

struct rs_agree;

/* rs_agree_new() - @workload, @model borrowed; @ret_figures is counted up. Return: 0; -ENOMEM. */
int rs_agree_new(const struct resched_workload *workload, const struct rs_model *model, unsigned int nr_cpus,
		 struct resched_placement_agreement *ret_figures, struct rs_agree **ret);
void rs_agree_free(struct rs_agree *agree);
/* rs_agree_event() - called for each event @before and after the shadow handles it. Return: 0; -ENOMEM. */
int rs_agree_event(struct rs_agree *agree, const struct rs_shadow *shadow, const struct resched_event *event, bool before);

#endif
