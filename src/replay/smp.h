/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the scheduler knows of all cpus together: loads, idle cpus, who wakes whom. It answers where a task goes at a wakeup, fork or exec
 * and decides when the balancer moves which.
 *
 * It drives nothing: whoever runs tasks (the engine, a follower of a recording) tells it what happens and moves tasks when asked. It
 * knows no policy, only weights.
 *
 *   smp.c           state, load averages
 *   smp_wake.c      wakeups: wake_wide, wake_affine, select_idle_sibling
 *   smp_fork.c      fork and exec: find_idlest_cpu
 *   smp_energy.c    wakeups on machines of unequal cpus: find_energy_efficient_cpu
 *   smp_groups.c    states of groups, which is busiest, how much to move
 *   smp_balance.c   one pass of the balancer: source, tasks, active balance
 *   smp_when.c      when passes run: tick, newly idle, for idle cpus without tick
 *
 * Owner sets @now_ns before every call; it never goes back. Weights are what tasks weigh at the root: the owner knows groups.
 * Kernel: kernel/sched/fair.c in 6.1.192 and 6.12.117. Departures: no ASYM_PACKING priorities, no NUMA balancing,
 * capacity is not lowered by real-time tasks and interrupts.
 */
#ifndef RS_REPLAY_SMP_H
#define RS_REPLAY_SMP_H

#include "policies/pelt.h"
#include "replay/domains.h"

struct rs_smp_task {
	struct rs_smp_task *prev, *next;	/* on its cpu's list: head = last enqueued or run */
	struct rs_pelt avg;
	uint64_t weight;			/* 1024 = nice 0 */
	uint64_t exec_start_ns;			/* last accounted as running; 0 after a migration */
	uint64_t flips_decay_ns;
	const struct rs_smp_task *last_wakee;
	const uint64_t *allowed;		/* nr_words of bits; NULL = all */
	uint32_t flips;
	uint32_t util_ewma, util_enqueued;
	unsigned int cpu, recent;		/* where it is or was last; where it was before */
	int only_cpu;				/* it may run on this one only; -1 */
	bool fair, idle_policy, percpu_kthread;
	bool on_rq, running, delayed, attached;	/* attached: counts in the averages of @cpu */
	bool util_kept;				/* its averages have not changed since util_* were taken: UTIL_AVG_UNCHANGED */
};

struct rs_smp_level {
	uint64_t last_balance;			/* jiffies */
	uint64_t interval_ms;
	unsigned int nr_failed;
	uint64_t newidle_cost_ns;
	unsigned int newidle_call, newidle_success, newidle_ratio;
};

struct rs_smp_cpu {
	struct rs_pelt avg;			/* of all fair tasks of the cpu */
	uint64_t weight;			/* of the queued ones, running included */
	uint64_t removed_load, removed_util, removed_runnable;
	unsigned int nr_running;		/* all classes, running and delayed included */
	unsigned int h_nr, nr_delayed, nr_idle_policy;	/* fair; of them asleep but queued; of policy SCHED_IDLE */
	uint32_t util_est;
	struct rs_smp_task *curr;		/* NULL = idle */
	struct rs_smp_task swapper, list;
	unsigned int capacity;
	uint64_t idle_since_ns, idle_stamp_ns;	/* idle_stamp_ns 0: none */
	uint64_t avg_idle_ns, max_idle_cost_ns, wake_avg_idle_ns;
	uint64_t next_balance;			/* jiffies */
	uint64_t misfit_load;
	bool active, tickless, over;		/* over: SIS_FILTER's bit */
	bool pushing;				/* its stopper was asked to push */
	struct rs_smp_level *levels;		/* one a level of its chain */
};

struct rs_smp_llc {				/* by first cpu of the LLC */
	unsigned int size, nr_idle_scan, nr_busy, nr_over;
	bool has_idle_cores;
	uint64_t scan_cost_ns;
};

struct rs_smp_options {
	bool wa_idle, wa_weight, wa_bias, sis_util, sis_prop, sis_filter, util_est, util_est_fastup, ni_random, lb_min, ttwu_queue, energy_aware;
	uint64_t migration_cost_ns;
	unsigned int nr_migrate, hz;
	uint64_t newidle_cost_ns, newidle_cost_cpu_ns;	/* of a newly idle pass: fixed, and a cpu looked at */
	uint64_t probe_ns;			/* of one cpu in the idle scan (SIS_PROP) */
	uint64_t seed;
	/* Move @t, which is queued or runs on @from, to @to. It must call rs_smp_dequeue() and rs_smp_enqueue(). */
	void (*move)(void *ctx, struct rs_smp_task *t, unsigned int from, unsigned int to);
	/* Have @from's stopper call rs_smp_push() soon. */
	void (*push)(void *ctx, unsigned int from, unsigned int to);
	void *ctx;
};

struct rs_smp {
	const struct resched_domains *d;
	struct rs_smp_options opts;
	bool is_612;
	uint64_t now_ns;
	struct rs_smp_cpu *cpus;
	struct rs_smp_llc *llcs;		/* by cpu number of the first */
	unsigned int *llc_pos;			/* by cpu: place in its LLC's span */
	bool *imbalance;			/* by running number of the group */
	uint64_t *scratch, *env_cpus;		/* sets in use within one call */
	uint64_t *tickless;			/* idle cpus whose tick has stopped */
	unsigned int nr_tickless;
	uint64_t nohz_next_balance;		/* jiffies */
	uint64_t nohz_next_blocked;		/* jiffies: idle cpus' averages are brought up to date after that */
	bool nohz_needs_update;			/* a cpu went idle: it may be due before nohz_next_balance */
	bool overload;				/* some cpu has two tasks or a misfit */
	bool overutilized;			/* some cpu is used beyond 80 %: energy does not count */
	uint64_t rng;
	uint64_t jiffies_phase_ns, jiffy_ns;
	unsigned int nr_online;
	uint64_t nr_scans, nr_probes;		/* of caches for an idle cpu, and cpus looked at */
	void *memory;
};

/* rs_smp_newidle_cost() - a newly idle pass over all domains of @cpu took at most @cost_ns before the start. */
void rs_smp_newidle_cost(struct rs_smp *s, unsigned int cpu, uint64_t cost_ns);
/* rs_smp_new() - @d is borrowed. Return: 0; -ENOMEM. */
int rs_smp_new(const struct resched_domains *d, const struct rs_smp_options *opts, struct rs_smp **ret);
void rs_smp_free(struct rs_smp *s);

/* ---- what happens ---- */

/* rs_smp_task_init() - a task at rest on @cpu; weight, allowed, fair and so on are the caller's to set. */
void rs_smp_task_init(struct rs_smp_task *t, unsigned int cpu);
/* rs_smp_task_seed() - its averages at the start, as shares of 1024: how much it was runnable and ran. It counts on its cpu. */
void rs_smp_task_seed(struct rs_smp *s, struct rs_smp_task *t, uint32_t runnable, uint32_t running);
/* rs_smp_seed_done() - all tasks of the start are known: what follows from them. */
void rs_smp_seed_done(struct rs_smp *s);
/* rs_smp_fork() - averages of a new task (init_entity_runnable_average()). */
void rs_smp_fork(struct rs_smp *s, struct rs_smp_task *t, const struct rs_smp_task *parent, unsigned int cpu);
enum rs_smp_how { RS_SMP_WAKES, RS_SMP_NEW, RS_SMP_MOVES };
void rs_smp_enqueue(struct rs_smp *s, unsigned int cpu, struct rs_smp_task *t, enum rs_smp_how how);
void rs_smp_dequeue(struct rs_smp *s, struct rs_smp_task *t, bool sleeps);
/* rs_smp_delay() - it sleeps but stays queued, or is runnable again. */
void rs_smp_delay(struct rs_smp *s, struct rs_smp_task *t, bool delayed);
/* rs_smp_carry() - a queued task that does not run goes to another cpu; a delayed one stays delayed. */
void rs_smp_carry(struct rs_smp *s, struct rs_smp_task *t, unsigned int to);
/* rs_smp_dead() - it sleeps and never wakes: its load goes (task_dead_fair()). */
void rs_smp_dead(struct rs_smp *s, struct rs_smp_task *t);
/* rs_smp_run() - @t (NULL = idle) gets the cpu. */
void rs_smp_run(struct rs_smp *s, unsigned int cpu, struct rs_smp_task *t);
void rs_smp_reweight(struct rs_smp *s, struct rs_smp_task *t, uint64_t weight);

/* ---- questions ---- */

/*
 * rs_smp_wake() - cpu for the sleeping @t. @by: the cpu where the waking happens; its current task is the waker.
 * @sync: the waker said that it will sleep; @irq: an interrupt wakes.
 */
unsigned int rs_smp_wake(struct rs_smp *s, struct rs_smp_task *t, unsigned int by, bool sync, bool irq);
/* rs_smp_place_new() - cpu for a new task (@exec: for the running one that execs), from @cpu. */
unsigned int rs_smp_place_new(struct rs_smp *s, const struct rs_smp_task *t, unsigned int cpu, bool exec);
/* rs_smp_tick() - the tick of a busy cpu; balances. */
void rs_smp_tick(struct rs_smp *s, unsigned int cpu);
/* rs_smp_newidle() - @cpu is about to idle. Return: tasks moved to it. */
unsigned int rs_smp_newidle(struct rs_smp *s, unsigned int cpu);
/* rs_smp_push() - the stopper of @from runs: push one task to @to. */
void rs_smp_push(struct rs_smp *s, unsigned int from, unsigned int to);

/* ---- between the files ---- */

static inline bool rs_smp_idle(const struct rs_smp *s, unsigned int cpu)
{
	return !s->cpus[cpu].nr_running && !s->cpus[cpu].curr;
}

static inline bool rs_smp_only_idle_policy(const struct rs_smp *s, unsigned int cpu)
{
	return s->cpus[cpu].nr_running && s->cpus[cpu].nr_running == s->cpus[cpu].nr_idle_policy;
}

static inline bool rs_smp_is_free(const struct rs_smp *s, unsigned int cpu)
{
	return rs_smp_idle(s, cpu) || rs_smp_only_idle_policy(s, cpu);
}

static inline bool rs_smp_allowed(const struct rs_smp_task *t, unsigned int cpu)
{
	return !t->allowed || (t->allowed[cpu / 64] >> (cpu % 64)) & 1;
}

static inline struct rs_smp_llc *rs_smp_llc(const struct rs_smp *s, unsigned int cpu)
{
	return &s->llcs[s->d->llc_of[cpu]];
}

static inline bool rs_smp_share(const struct rs_smp *s, unsigned int a, unsigned int b)
{
	return s->d->llc_of[a] == s->d->llc_of[b];
}

static inline uint64_t rs_smp_jiffies(const struct rs_smp *s)
{
	return (s->now_ns - s->jiffies_phase_ns) / s->jiffy_ns;
}

/* Load of a task as its group counts on that cpu (task_h_load()). */
static inline uint64_t rs_smp_task_load(const struct rs_smp_task *t)
{
	return t->avg.load_avg;
}

static inline uint32_t rs_smp_estimate(const struct rs_smp_task *t)	/* _task_util_est() */
{
	return t->util_ewma > t->util_enqueued ? t->util_ewma : t->util_enqueued;
}

uint32_t rs_smp_task_util(const struct rs_smp *s, const struct rs_smp_task *t);	/* task_util_est() */
uint32_t rs_smp_cpu_util(const struct rs_smp *s, unsigned int cpu);		/* cpu_util() */
void rs_smp_update_cpu(struct rs_smp *s, unsigned int cpu);			/* update_blocked_averages() */
bool rs_smp_core_idle(const struct rs_smp *s, unsigned int cpu);		/* all threads of its core idle */
/* rs_smp_note_over() - SIS_FILTER's bit of @cpu, looked at anew. */
void rs_smp_note_over(struct rs_smp *s, unsigned int cpu);

static inline bool rs_smp_fits(uint64_t util, uint64_t capacity)		/* fits_capacity(): within 80 % */
{
	return util * 1280 < capacity * 1024;
}

/* ---- smp_wake.c, for tests too ---- */

bool rs_smp_wide(uint32_t waker_flips, uint32_t wakee_flips, unsigned int llc_size);	/* wake_wide() */
unsigned int rs_smp_affine(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_smp_task *waker, unsigned int by,
			   unsigned int prev, unsigned int imbalance_pct, bool sync);	/* wake_affine() */
unsigned int rs_smp_sibling(struct rs_smp *s, struct rs_smp_task *t, unsigned int prev, unsigned int target, unsigned int by, bool irq);
/* CPUs SIS_PROP looks at; SIS_UTIL's nr_idle_scan for a sum of utils. */
unsigned int rs_smp_prop_budget(unsigned int weight, uint64_t avg_idle_ns, uint64_t scan_cost_ns);
unsigned int rs_smp_util_budget(unsigned int weight, uint64_t sum_util, unsigned int pct);

/* ---- smp_energy.c ---- */

/* rs_smp_has_energy() - is the machine one where energy counts at wakeups? */
bool rs_smp_has_energy(const struct rs_smp *s);
bool rs_smp_overutilized(const struct rs_smp *s, unsigned int cpu);		/* cpu_overutilized() */
/* rs_smp_energy() - cpu for a waking @t, woken on @by; UINT32_MAX: undecided. */
unsigned int rs_smp_energy(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int by, unsigned int prev);

/* ---- balancing ---- */

enum rs_smp_idle_type { RS_SMP_BUSY, RS_SMP_IDLE, RS_SMP_NEWLY_IDLE };
enum rs_smp_kind { RS_SMP_LOAD, RS_SMP_UTIL, RS_SMP_TASK, RS_SMP_MISFIT };
/* Rising priority to pull from (enum group_type). */
enum rs_smp_type { RS_SMP_HAS_SPARE, RS_SMP_FULLY_BUSY, RS_SMP_MISFIT_GROUP, RS_SMP_SMT_BALANCE, RS_SMP_IMBALANCED, RS_SMP_OVERLOADED };

struct rs_smp_group {
	const struct rs_group_shape *shape;
	uint64_t load, util, runnable, capacity, min_capacity, max_capacity, avg_load, misfit;
	unsigned int nr, h_nr, idle, weight, idx;
	enum rs_smp_type type;
};

struct rs_smp_env {
	const struct rs_domain *dom;
	unsigned int level, cpu, dst;		/* the cpu that balances, and for which */
	enum rs_smp_idle_type idle;
	enum rs_smp_kind kind;
	int64_t amount;
	unsigned int src;
	int new_dst;
	bool some_pinned, all_pinned;
	struct rs_smp_group local, busiest;
	uint64_t total_load, total_capacity;
};

/* rs_smp_find_busiest() - states of all groups and the decision. Return: whether to pull, with kind, amount and busiest filled in. */
bool rs_smp_find_busiest(struct rs_smp *s, struct rs_smp_env *env);
/* The decision alone, from groups filled in; @local_pref etc. come from env. Return: whether to pull. */
bool rs_smp_decide(const struct rs_smp *s, struct rs_smp_env *env);
enum rs_smp_type rs_smp_classify(const struct rs_smp_group *g, unsigned int pct, bool imbalanced, bool smt);
int64_t rs_smp_numa_imbalance(int64_t imbalance, unsigned int dst_running, unsigned int imb_numa_nr);
/* rs_smp_balance() - one pass over level @level of @cpu. @ret_continue: whether upper levels are for it too. Return: tasks moved. */
unsigned int rs_smp_balance(struct rs_smp *s, unsigned int cpu, unsigned int level, enum rs_smp_idle_type idle, bool *ret_continue);
bool rs_smp_should_balance(const struct rs_smp *s, unsigned int cpu, const struct rs_domain *dom, enum rs_smp_idle_type idle);
bool rs_smp_hot(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_domain *dom);

#endif
