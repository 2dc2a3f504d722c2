// SPDX-License-Identifier: GPL-2.0-only
#include "trace/text_event.h"

#include <string.h>

#define COMM_MAX 64u		/* kernels have 15 bytes, some vendors 31 */
#define PRIO_UNKNOWN 120

/* A constant with its length, for comparing without a bound: lines have slack behind them. */
#define AT(p, text) (!memcmp(p, text, sizeof(text) - 1))
#define LEN(text) (sizeof(text) - 1)

struct text { const char *p; uint32_t len; };

enum resched_event_type rs_text_event_type(const char *name, size_t len)
{
	static const struct { const char *name; enum resched_event_type type; } known[] = {
		{ "sched_switch", RESCHED_EV_SWITCH }, { "sched_waking", RESCHED_EV_WAKING }, { "sched_wakeup", RESCHED_EV_WAKEUP },
		{ "sched_wakeup_new", RESCHED_EV_WAKEUP_NEW }, { "sched_migrate_task", RESCHED_EV_MIGRATE },
		{ "sched_process_fork", RESCHED_EV_FORK }, { "sched_process_exec", RESCHED_EV_EXEC },
		{ "sched_process_exit", RESCHED_EV_EXIT }, { "sched_pi_setprio", RESCHED_EV_PRIO },
		{ "sched_stat_runtime", RESCHED_EV_RUNTIME }, { "task_rename", RESCHED_EV_COMM },
		{ "irq_handler_entry", RESCHED_EV_IRQ }, { "irq_handler_exit", RESCHED_EV_IRQ },
		{ "softirq_entry", RESCHED_EV_IRQ }, { "softirq_exit", RESCHED_EV_IRQ },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) == len && !memcmp(known[i].name, name, len))
			return known[i].type;
	}
	return RESCHED_EV_OTHER;
}

static inline bool number(const char **p, int64_t *ret)
{
	return rs_text_number(p, ret);
}

static inline bool pid_number(const char **p, int32_t *ret)
{
	int64_t v;

	if (!number(p, &v) || v < INT32_MIN || v > INT32_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

static inline bool prio_number(const char **p, int16_t *ret)
{
	int64_t v;

	if (!number(p, &v) || v < INT16_MIN || v > INT16_MAX)
		return false;
	*ret = (int16_t)v;
	return true;
}

/* A cpu that cannot be is UINT16_MAX, as -1 reads in binary recordings. */
static inline bool cpu_number(const char **p, uint16_t *ret)
{
	int64_t v;

	if (!number(p, &v))
		return false;
	*ret = v < 0 || v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
	return true;
}

static inline bool ends(const char *p)
{
	return *p == '\0' || *p == ' ' || *p == '\t';
}

static inline bool skip(const char **p, const char *text, size_t len)
{
	if (memcmp(*p, text, len) != 0)
		return false;
	*p += len;
	return true;
}
#define SKIP(p, text) skip(p, text, LEN(text))

/* The next place at or after @p, within a comm's length of @from, where @key stands; NULL: none. */
static const char *find_key(const char *from, const char *p, const char *end, const char *key, size_t len)
{
	const char *last = end - from > (ptrdiff_t)COMM_MAX ? from + COMM_MAX : end;

	for (; p < last; p++) {
		if (*p == key[0] && !memcmp(p, key, len))
			return p;
	}
	return NULL;
}

/* "COMM KEY NUMBER NEXT": @key and @next with their blanks; @next may be NULL: the number ends a word. Moves *@p to @next. */
static bool comm_and_pid(const char **p, const char *end, const char *key, const char *next, struct text *comm, int32_t *pid)
{
	const char *from = *p, *at = from;
	size_t key_len = strlen(key), next_len = next ? strlen(next) : 0;

	for (; (at = find_key(from, at, end, key, key_len)) != NULL; at++) {
		const char *q = at + key_len;

		if (!pid_number(&q, pid) || (next ? memcmp(q, next, next_len) != 0 : !ends(q)))
			continue;
		comm->p = from;
		comm->len = (uint32_t)(at - from);
		*p = q;
		return true;
	}
	return false;
}

static void add_name(struct rs_text_event *ret, int32_t pid, struct text comm, bool strong)
{
	if (ret->nr_names < RS_TEXT_NAMES && comm.len)
		ret->names[ret->nr_names++] = (struct rs_text_name){ pid, comm.p, comm.len, strong };
}

uint32_t rs_text_raw_state(const struct rs_raw_states *raw, uint64_t bits)
{
	static const uint16_t modern[] = { RESCHED_STATE_S, RESCHED_STATE_D, RESCHED_STATE_T, RESCHED_STATE_t,
					   RESCHED_STATE_X, RESCHED_STATE_Z, RESCHED_STATE_P, RESCHED_STATE_I };
	static const uint16_t old[] = { RESCHED_STATE_S, RESCHED_STATE_D, RESCHED_STATE_T, RESCHED_STATE_t,
					RESCHED_STATE_Z, RESCHED_STATE_X, RESCHED_STATE_X, RESCHED_STATE_OTHER };
	uint32_t state = 0;

	if (bits >= 0x100 && !(bits & (bits - 1)))
		return RESCHED_STATE_PREEMPT;
	if (raw->shifted)
		bits >>= 1;
	for (unsigned int i = 0; i < 8; i++) {
		if (bits >> i & 1)
			state |= raw->old ? old[i] : modern[i];
	}
	return bits >> 8 ? state | RESCHED_STATE_OTHER : state;
}

static uint32_t letter_state(char c)
{
	switch (c) {
	case 'R': return RESCHED_STATE_RUNNING;
	case 'S': return RESCHED_STATE_S;
	case 'D': return RESCHED_STATE_D;
	case 'T': return RESCHED_STATE_T;
	case 't': return RESCHED_STATE_t;
	case 'X': case 'x': return RESCHED_STATE_X;
	case 'Z': return RESCHED_STATE_Z;
	case 'P': return RESCHED_STATE_P;
	case 'I': return RESCHED_STATE_I;
	default: return RESCHED_STATE_OTHER;
	}
}

static bool raw_number(const char **p, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;
	int64_t dec;
	int n = 0;

	if (s[0] != '0' || (s[1] != 'x' && s[1] != 'X')) {
		if (!number(p, &dec) || dec < 0)
			return false;
		*ret = (uint64_t)dec;
		return true;
	}
	for (s += 2; n < 16; s++, n++) {
		unsigned int digit = (unsigned char)*s - '0';

		if (digit > 9) {
			digit = ((unsigned char)*s | 0x20) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		v = v << 4 | digit;
	}
	*p = s;
	*ret = v;
	return n > 0;
}

/* "S", "R+", "D|K", "DK", "0", "0x400" */
static bool parse_state(const char **p, const struct rs_raw_states *raw, struct rs_text_event *ret)
{
	const char *s = *p;
	uint32_t state = 0;

	if ((unsigned char)(*s - '0') < 10) {
		ret->raw = true;
		if (!raw_number(p, &ret->raw_state) || !ends(*p))
			return false;
		ret->ev.sw.prev_state = rs_text_raw_state(raw, ret->raw_state);
		return true;
	}
	for (; !ends(s); s++) {
		if (*s == '+')
			state |= RESCHED_STATE_PREEMPT;
		else if ((*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z'))
			state |= letter_state(*s);
		else if (*s != '|')
			return false;
	}
	ret->ev.sw.prev_state = state;
	if (s == *p)
		return false;
	*p = s;
	return true;
}

/* "COMM next_pid=N next_prio=N" up to the end, or what some tool put behind a blank. */
static bool switch_next(const char *p, const char *end, struct text *comm, struct rs_text_event *ret)
{
	const char *at = p;

	for (; (at = find_key(p, at, end, " next_pid=", 10)) != NULL; at++) {
		const char *q = at + 10;

		if (!pid_number(&q, &ret->ev.sw.next_pid) || !ends(q))
			continue;
		comm->p = p;
		comm->len = (uint32_t)(at - p);
		if (SKIP(&q, " next_prio=")) {
			if (prio_number(&q, &ret->ev.sw.next_prio) && ends(q))
				return true;
		} else if (q == end) {
			ret->ev.sw.next_prio = PRIO_UNKNOWN;
			ret->no_prio = true;
			return true;
		}
	}
	return false;
}

/* "prev_comm=COMM prev_pid=N prev_prio=N prev_state=S[ ==>] next_comm=..." */
static bool kernel_switch(const struct rs_text_line *line, const struct rs_raw_states *raw, struct rs_text_event *ret)
{
	const char *p = line->body + LEN("prev_comm="), *from = p, *at = p;
	struct text prev, next;

	for (; (at = find_key(from, at, line->end, " prev_pid=", 10)) != NULL; at++) {
		p = at + 10;
		if (!pid_number(&p, &ret->ev.pid) || !SKIP(&p, " prev_prio=") || !prio_number(&p, &ret->ev.sw.prev_prio) ||
		    !SKIP(&p, " prev_state=") || !parse_state(&p, raw, ret))
			continue;
		SKIP(&p, " ==>");
		if (!SKIP(&p, " next_comm=") || !switch_next(p, line->end, &next, ret))
			continue;
		prev.p = from;
		prev.len = (uint32_t)(at - from);
		add_name(ret, ret->ev.pid, prev, true);
		add_name(ret, ret->ev.sw.next_pid, next, true);
		return true;
	}
	return false;
}

/* "COMM:PID [PRIO]" of trace-cmd; moves *@p behind it. */
static bool plugin_task(const char **p, const char *end, struct text *comm, int32_t *pid, int16_t *prio)
{
	const char *from = *p, *at = from;

	for (; (at = find_key(from, at, end, ":", 1)) != NULL; at++) {
		const char *q = at + 1;

		if (!pid_number(&q, pid) || !SKIP(&q, " [") || !prio_number(&q, prio) || *q != ']')
			continue;
		comm->p = from;
		comm->len = (uint32_t)(at - from);
		*p = q + 1;
		return true;
	}
	return false;
}

/*
 * "COMM:PID [PRIO] S ==> COMM:PID [PRIO]". trace-cmd's letters are those of an old kernel, given by bit: R+ shows as R, what
 * is I since 4.14 as W, and the dead are mixed up; who sleeps and who does not is right.
 */
static bool plugin_switch(const struct rs_text_line *line, const struct rs_raw_states *raw, struct rs_text_event *ret)
{
	const char *p = line->body;
	struct text prev, next;

	ret->plugin = true;
	if (!plugin_task(&p, line->end, &prev, &ret->ev.pid, &ret->ev.sw.prev_prio) || *p++ != ' ' || !parse_state(&p, raw, ret) ||
	    !SKIP(&p, " ==> ") || !plugin_task(&p, line->end, &next, &ret->ev.sw.next_pid, &ret->ev.sw.next_prio) || !ends(p))
		return false;
	if (ret->ev.sw.prev_state == RESCHED_STATE_OTHER)
		ret->ev.sw.prev_state = RESCHED_STATE_I;
	add_name(ret, ret->ev.pid, prev, true);
	add_name(ret, ret->ev.sw.next_pid, next, true);
	return true;
}

static bool decode_switch(const struct rs_text_line *line, const struct rs_raw_states *raw, struct rs_text_event *ret)
{
	return AT(line->body, "prev_comm=") ? kernel_switch(line, raw, ret) : plugin_switch(line, raw, ret);
}

/* What follows the priority of a wakeup: " success=1 target_cpu=003", " CPU:003", " <CPU:003>". Old kernels traced attempts too. */
static bool wake_tail(const char *p, struct rs_text_event *ret)
{
	int64_t success = 1;

	if (SKIP(&p, " success=") && !number(&p, &success))
		return false;
	if (SKIP(&p, " target_cpu=") || SKIP(&p, " CPU:") || SKIP(&p, " <CPU:") || SKIP(&p, "<CPU:")) {
		if (!cpu_number(&p, &ret->ev.wake.target_cpu) || !(ends(p) || *p == '>'))
			return false;
	} else if (!ends(p)) {
		return false;
	}
	if (!success) {
		ret->ev.type = RESCHED_EV_OTHER;
		ret->nr_names = 0;
	}
	return true;
}

/* "comm=COMM pid=N prio=N ..." or "COMM:PID [PRIO] ..." */
static bool decode_wake(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *p = line->body;
	struct text comm;

	ret->ev.wake.waker_pid = line->pid;
	ret->ev.wake.target_cpu = (uint16_t)line->cpu;
	if (SKIP(&p, "comm=")) {
		if (!comm_and_pid(&p, line->end, " pid=", " prio=", &comm, &ret->ev.pid) || !SKIP(&p, " prio=") ||
		    !prio_number(&p, &ret->ev.wake.prio))
			return false;
	} else if (!plugin_task(&p, line->end, &comm, &ret->ev.pid, &ret->ev.wake.prio)) {
		return false;
	}
	add_name(ret, ret->ev.pid, comm, false);
	return wake_tail(p, ret);
}

static bool decode_migrate(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *p = line->body;
	struct text comm;

	if (!SKIP(&p, "comm=") || !comm_and_pid(&p, line->end, " pid=", " prio=", &comm, &ret->ev.pid) || !SKIP(&p, " prio=") ||
	    !prio_number(&p, &ret->ev.migrate.prio) || !SKIP(&p, " orig_cpu=") || !cpu_number(&p, &ret->ev.migrate.from_cpu) ||
	    !SKIP(&p, " dest_cpu=") || !cpu_number(&p, &ret->ev.migrate.to_cpu) || !ends(p))
		return false;
	add_name(ret, ret->ev.pid, comm, false);
	return true;
}

static bool decode_fork(const struct rs_text_line *line, struct rs_text_event *ret)
{
	bool raw = AT(line->body, "parent_comm=");
	const char *p = line->body + (raw ? LEN("parent_comm=") : LEN("comm="));
	struct text parent, child;

	if (!raw && !AT(line->body, "comm="))
		return false;
	if (!comm_and_pid(&p, line->end, raw ? " parent_pid=" : " pid=", " child_comm=", &parent, &ret->ev.pid) ||
	    !SKIP(&p, " child_comm=") || !comm_and_pid(&p, line->end, " child_pid=", NULL, &child, &ret->ev.fork.child_pid))
		return false;
	add_name(ret, ret->ev.pid, parent, false);
	add_name(ret, ret->ev.fork.child_pid, child, false);
	return true;
}

/* "filename=PATH pid=N old_pid=N": a task is called as the last part of the path, 15 bytes of it. */
static bool decode_exec(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *path = line->body + LEN("filename="), *at = path, *base, *p;
	struct text comm;

	if (!AT(line->body, "filename="))
		return false;
	for (; (at = memmem(at, (size_t)(line->end - at), " pid=", 5)) != NULL; at++) {
		p = at + 5;
		if (pid_number(&p, &ret->ev.pid) && (AT(p, " old_pid=") || *p == '\0'))
			break;
	}
	if (!at)
		return false;
	base = memrchr(path, '/', (size_t)(at - path));
	comm.p = base ? base + 1 : path;
	comm.len = at - comm.p < 15 ? (uint32_t)(at - comm.p) : 15;
	add_name(ret, ret->ev.pid, comm, true);
	return true;
}

static bool decode_exit(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *p = line->body;
	struct text comm;

	if (!SKIP(&p, "comm=") || !comm_and_pid(&p, line->end, " pid=", " prio=", &comm, &ret->ev.pid))
		return false;
	add_name(ret, ret->ev.pid, comm, false);
	return true;
}

static bool decode_prio(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *p = line->body;
	struct text comm;

	if (!SKIP(&p, "comm=") || !comm_and_pid(&p, line->end, " pid=", " oldprio=", &comm, &ret->ev.pid) || !SKIP(&p, " oldprio=") ||
	    !prio_number(&p, &ret->ev.prio.old_prio) || !SKIP(&p, " newprio=") || !prio_number(&p, &ret->ev.prio.new_prio) || !ends(p))
		return false;
	add_name(ret, ret->ev.pid, comm, false);
	return true;
}

/* vruntime went away in 6.8; "[ns]" is not in raw fields. */
static bool decode_runtime(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *p = line->body;
	struct text comm;
	int64_t runtime, vruntime = 0;

	if (!SKIP(&p, "comm=") || !comm_and_pid(&p, line->end, " pid=", " runtime=", &comm, &ret->ev.pid) || !SKIP(&p, " runtime=") ||
	    !number(&p, &runtime) || runtime < 0)
		return false;
	SKIP(&p, " [ns]");
	if (SKIP(&p, " vruntime=") && !number(&p, &vruntime))
		return false;
	ret->ev.runtime.runtime_ns = (uint64_t)runtime;
	ret->ev.runtime.vruntime_ns = (uint64_t)vruntime;
	add_name(ret, ret->ev.pid, comm, false);
	return true;
}

/* "[pid=N ]oldcomm=COMM newcomm=COMM oom_score_adj=N"; 6.14 dropped pid. */
static bool decode_rename(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *p = line->body, *from, *at;
	struct text comm;

	ret->ev.pid = line->pid;
	if (SKIP(&p, "pid=") && (!pid_number(&p, &ret->ev.pid) || *p++ != ' '))
		return false;
	if (!SKIP(&p, "oldcomm="))
		return false;
	at = find_key(p, p, line->end, " newcomm=", 9);
	if (!at)
		return false;
	from = at + 9;
	at = find_key(from, from, line->end, " oom_score_adj=", 15);
	if (!at)
		return false;
	comm.p = from;
	comm.len = (uint32_t)(at - from);
	add_name(ret, ret->ev.pid, comm, true);
	return true;
}

/* "irq=N ..." and "vec=N [action=TEXT]"; which of the four it is, the name of the event tells. */
static bool decode_irq(const struct rs_text_line *line, struct rs_text_event *ret)
{
	const char *p = line->body;
	int64_t nr;

	ret->ev.irq.soft = *line->name == 's';
	ret->ev.irq.entry = line->name[line->name_len - 1] == 'y';
	if (!(ret->ev.irq.soft ? SKIP(&p, "vec=") : SKIP(&p, "irq=")) || !number(&p, &nr) || nr < 0 || nr > UINT16_MAX || !ends(p))
		return false;
	ret->ev.irq.nr = (uint16_t)nr;
	return true;
}

bool rs_text_decode(enum resched_event_type type, const struct rs_text_line *line, const struct rs_raw_states *raw, struct rs_text_event *ret)
{
	bool good = true;

	memset(&ret->ev, 0, sizeof(ret->ev));
	ret->nr_names = 0;
	ret->raw = ret->plugin = ret->no_prio = false;
	ret->ev.ts_ns = line->ts_ns;
	ret->ev.cpu = (uint16_t)line->cpu;
	ret->ev.ctx = line->ctx;
	ret->ev.type = (uint8_t)type;
	switch (type) {
	case RESCHED_EV_SWITCH: good = decode_switch(line, raw, ret); break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW: good = decode_wake(line, ret); break;
	case RESCHED_EV_MIGRATE: good = decode_migrate(line, ret); break;
	case RESCHED_EV_FORK: good = decode_fork(line, ret); break;
	case RESCHED_EV_EXEC: good = decode_exec(line, ret); break;
	case RESCHED_EV_EXIT: good = decode_exit(line, ret); break;
	case RESCHED_EV_PRIO: good = decode_prio(line, ret); break;
	case RESCHED_EV_RUNTIME: good = decode_runtime(line, ret); break;
	case RESCHED_EV_COMM: good = decode_rename(line, ret); break;
	case RESCHED_EV_IRQ: good = decode_irq(line, ret); break;
	default: break;
	}
	if (!good || ret->ev.type == RESCHED_EV_OTHER) {
		ret->nr_names = 0;
		ret->ev.type = RESCHED_EV_OTHER;
		ret->ev.pid = 0;
		memset(&ret->ev.sw, 0, sizeof(ret->ev) - offsetof(struct resched_event, sw));
	}
	return good;
}
