/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the engine share; nobody else includes it. */
#ifndef RS_REPLAY_ENGINE_CORE_H
#define RS_REPLAY_ENGINE_CORE_H

#include "replay/engine.h"

#include <assert.h>
#include <stddef.h>

#define MAX_RT_PRIO 100
#define DEFAULT_PRIO 120

static inline int32_t pid_of(const struct rs_runner *r)
{
	return r ? r->program->pid : 0;
}

/* Alarms: timers of tasks, then some a cpu, then those of groups. */
enum rs_cpu_alarm { ALARM_TICK,
		    ALARM_HRTICK,
		    ALARM_SWITCH,
		    ALARM_OP,
		    ALARM_PUSH,
		    ALARM_PULL,
		    NR_CPU_ALARMS };
_Static_assert(NR_CPU_ALARMS == RS_CPU_ALARMS, "the queue has room for all");

static inline uint32_t task_alarm(const struct rs_engine *e, const struct rs_runner *r)
{
	return (uint32_t)(r - e->runners);
}

static inline uint32_t cpu_alarm(const struct rs_engine *e, const struct rs_cpu *c, enum rs_cpu_alarm kind)
{
	return e->workload->nr_tasks + (uint32_t)kind * e->nr_cpus + c->rq.cpu;
}

/* Alarms of groups come after those of cpus, then migrations of sleeping tasks. */
static inline uint32_t first_group_alarm(const struct rs_engine *e)
{
	return e->workload->nr_tasks + (uint32_t)NR_CPU_ALARMS * e->nr_cpus;
}

static inline uint32_t first_move_alarm(const struct rs_engine *e)
{
	return first_group_alarm(e) + (uint32_t)e->groups.nr;
}

static inline void set_alarm(struct rs_engine *e, const struct rs_cpu *c, enum rs_cpu_alarm kind, uint64_t at)
{
	rs_eventq_set(&e->alarms, cpu_alarm(e, c, kind), at);
}

static inline bool alarm_is_set(const struct rs_engine *e, const struct rs_cpu *c, enum rs_cpu_alarm kind)
{
	return rs_eventq_at(&e->alarms, cpu_alarm(e, c, kind)) != RS_NEVER;
}

static inline uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > RS_NEVER - b ? RS_NEVER : a + b;
}

static inline struct rs_runner *runner_of(struct rs_task *task)
{
	return (struct rs_runner *)((char *)task - offsetof(struct rs_runner, fair));
}

static inline bool is_fair(const struct rs_runner *r)
{
	return r->prio >= MAX_RT_PRIO;
}

static inline struct rs_cpu *cpu_of(struct rs_engine *e, unsigned int cpu)
{
	assert(cpu < e->nr_cpus);
	return &e->cpus[cpu];
}

/* The queue's clock never goes back; several calls at one instant see the same. */
static inline void set_clock(struct rs_cpu *c, uint64_t at)
{
	if (at > c->rq.clock_ns)
		c->rq.clock_ns = at;
}

static inline void list_add(struct rs_cpu *c, struct rs_runner *r)
{
	r->prev = &c->waiting;
	r->next = c->waiting.next;
	r->next->prev = r;
	c->waiting.next = r;
	c->nr_waiting++;
	c->nr_rt_waiting += !is_fair(r);
}

/* A preempted real-time task stays first in line of its priority. */
static inline void list_add_oldest(struct rs_cpu *c, struct rs_runner *r)
{
	r->next = &c->waiting;
	r->prev = c->waiting.prev;
	r->prev->next = r;
	c->waiting.prev = r;
	c->nr_waiting++;
	c->nr_rt_waiting += !is_fair(r);
}

static inline void list_del(struct rs_cpu *c, struct rs_runner *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
	r->prev = r->next = NULL;
	c->nr_waiting--;
	c->nr_rt_waiting -= !is_fair(r);
}

static inline const struct rs_op *current_op(const struct rs_runner *r)
{
	return r->op < r->program->nr_ops ? &r->program->ops[r->op] : NULL;
}

/* A duration as recorded, else the usual one. */
static inline uint64_t known_or(int32_t ns, uint64_t usual)
{
	return ns == RS_UNKNOWN || ns < 0 ? usual : (uint64_t)ns;
}

static inline uint64_t offset_by(uint64_t ts, int32_t ns)
{
	return ns < 0 && (uint64_t) - (int64_t)ns > ts ? 0 : ts + (uint64_t)(int64_t)ns;
}

static inline bool moves_asleep(const struct rs_op *op)
{
	return op->kind == RS_OP_MOVE && op->rule >= RS_MOVE_ASLEEP;
}

static inline bool waits_for_task(const struct rs_engine *e, const struct rs_op *op)
{
	return op->kind == RS_OP_BLOCK && (op->rule == RS_RULE_REQUEST || (rs_op_ended_by_task(op) && !e->runners[op->arg].dropped));
}

enum rs_leave { LEAVES_NOT,
		LEAVES_TO_SLEEP,
		LEAVES_TO_MOVE,
		LEAVES_FOR_GOOD };

/* engine_emit.c: events of the schedule, stamped with now. */
void rs_eng_emit(struct rs_engine *e, struct resched_event *event);
void rs_eng_emit_comm(struct rs_engine *e, const struct rs_runner *r, unsigned int cpu, bool renamed);
void rs_eng_emit_wake(struct rs_engine *e, enum resched_event_type type, const struct rs_runner *r, const struct rs_cpu *by,
		      unsigned int target, bool irq);
void rs_eng_emit_migrate(struct rs_engine *e, const struct rs_runner *r, unsigned int by, unsigned int from, unsigned int to);
void rs_eng_emit_switch(struct rs_engine *e, const struct rs_cpu *c, const struct rs_runner *prev, const struct rs_runner *next,
			uint32_t state);

/* engine_queue.c: programs and queues. */
void rs_eng_next_op(struct rs_runner *r);
void rs_eng_request_switch(struct rs_engine *e, struct rs_cpu *c, uint64_t delay);
void rs_eng_check_resched(struct rs_engine *e, struct rs_cpu *c, uint64_t delay);
void rs_eng_arm_hrtick(struct rs_engine *e, struct rs_cpu *c);
void rs_eng_attach(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, unsigned int flags, const struct rs_op *why);
void rs_eng_detach_waiting(struct rs_engine *e, struct rs_runner *r, uint64_t clock_ns);
void rs_eng_test_preemption(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, unsigned int flags, const struct rs_op *why);
uint64_t rs_eng_waking_clock(const struct rs_engine *e, const struct rs_op *why);

/* engine_schedule.c: who runs. */
void rs_eng_arm(struct rs_engine *e, struct rs_cpu *c);
void rs_eng_stop_progress(struct rs_engine *e, struct rs_cpu *c);
void rs_eng_change_current(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *prev, struct rs_runner *next, bool stays);
void rs_eng_join_picking(struct rs_engine *e, struct rs_cpu *dst, struct rs_runner *r);
void rs_eng_schedule(struct rs_engine *e, struct rs_cpu *c, enum rs_leave how, uint32_t state);
const struct rs_tick_note *rs_eng_tick_note(const struct rs_engine *e, const struct rs_cpu *c, uint64_t nr);
uint64_t rs_eng_tick_number(const struct rs_engine *e, uint64_t ts);
uint64_t rs_eng_next_tick(const struct rs_engine *e, const struct rs_cpu *c);

/* engine_wake.c: wakings. rs_eng_woken(): one that was held up takes effect. */
void rs_eng_wake_up(struct rs_engine *e, struct rs_runner *r, struct rs_cpu *by, const struct rs_op *why, bool irq);
void rs_eng_woken(struct rs_engine *e, struct rs_runner *r);
uint64_t rs_eng_leaves_at(const struct rs_engine *e, const struct rs_cpu *c);

/* engine_moves.c: migrations of the recording, for placement "recorded". */
void rs_eng_wait_begins(struct rs_engine *e, struct rs_runner *r);
void rs_eng_wait_ends(struct rs_engine *e, struct rs_runner *r);
void rs_eng_move_due(struct rs_engine *e, struct rs_runner *r);
void rs_eng_sleep_begins(struct rs_engine *e, struct rs_runner *r);
void rs_eng_sleep_ends(struct rs_engine *e, struct rs_runner *r);
void rs_eng_move_asleep(struct rs_engine *e, struct rs_runner *r);
bool rs_eng_arrive(struct rs_engine *e, struct rs_cpu *c, bool picking);
void rs_eng_arm_pull(struct rs_engine *e, struct rs_cpu *c);
void rs_eng_pull_early(struct rs_engine *e, struct rs_cpu *c);
bool rs_eng_pull_recorded(struct rs_engine *e, struct rs_cpu *c);
void rs_eng_do_move(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, const struct rs_op *op);

/* engine_serve.c: requests and answers. rs_eng_ask(): @client asks @server unless it does already. */
void rs_eng_ask(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *client, struct rs_runner *server, const struct rs_op *why);
struct rs_runner *rs_eng_answer(struct rs_runner *server, struct rs_runner *recorded);
void rs_eng_await_request(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *server);

/* engine_ops.c: what the running task does; rs_eng_do_op() runs one operation, after which it may have lost the cpu. */
void rs_eng_do_op(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r);
void rs_eng_init_fair(struct rs_engine *e, struct rs_runner *r);

#endif
