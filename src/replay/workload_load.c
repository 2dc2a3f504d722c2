// SPDX-License-Identifier: GPL-2.0-only
/* A workload from text. The text may be anybody's: every line is checked, and what a run relies on is checked at the end. */
#include "replay/workload_file.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/error.h"
#include "base/units.h"

#define MAX_SPARSE_TICKS (4u << 20) /* gaps between ticks are held, too */
#define TICKS_PER_LINE 4096u

struct reader {
	FILE *in;
	const char *path;
	struct resched_error *err;
	struct resched_workload *workload;
	char *line; /* without its end */
	size_t len, room;
	unsigned long nr; /* of the line, from 1 */
	unsigned long *task_lines;
	uint32_t lines_room;
	struct rs_tick_notes *ticks; /* of the present `ticks`; NULL: not inside one */
	uint32_t ticks_room;
	uint64_t nr_tick_lines;
	bool seen_span, seen_timing;
};

static int bad(struct reader *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad(struct reader *in, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return rs_error_set(in->err, RESCHED_FAILED, -EBADMSG, "%.200s, line %lu: %s", in->path, in->nr, text);
}

/* ---- lines and words ---- */

static int grow_line(struct reader *in)
{
	size_t room = in->room ? in->room * 2 : 4096;
	char *line = realloc(in->line, room);

	if (!line)
		return rs_error_nomem(in->err);
	in->line = line;
	in->room = room;
	return 0;
}

/* Return: 1; 0 at the end; -errno. */
static int next_line(struct reader *in)
{
	int c = EOF, rc;

	in->len = 0;
	in->nr++;
	while ((c = getc_unlocked(in->in)) != EOF && c != '\n') {
		if (!c)
			return bad(in, "a byte of value 0: this is no text");
		if (in->len >= RS_FILE_MAX_LINE)
			return bad(in, "longer than %u bytes", RS_FILE_MAX_LINE);
		if (in->len + 1 >= in->room) {
			rc = grow_line(in);
			if (rc < 0)
				return rc;
		}
		in->line[in->len++] = (char)c;
	}
	if (ferror(in->in))
		return rs_error_set(in->err, RESCHED_FAILED, errno ? -errno : -EIO, "cannot read %.200s:", in->path);
	if (c == EOF && !in->len)
		return 0;
	if (!in->room) {
		rc = grow_line(in);
		if (rc < 0)
			return rc;
	}
	if (in->len && in->line[in->len - 1] == '\r')
		in->len--;
	in->line[in->len] = '\0';
	return 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
					: c >= 'A' && c <= 'F'       ? c - 'A' + 10
								     : -1;
}

/* The text in quotes at *@at, unescaped in place and ended; *@at then behind it. NULL when it is not whole. */
static char *take_quoted(char **at)
{
	char *from = *at + 1, *to = *at, *text = *at;

	for (; *from && *from != '"'; to++) {
		if (*from != '\\') {
			*to = *from++;
		} else if (from[1] == 'x' && hex_digit(from[2]) >= 0 && hex_digit(from[3]) >= 0) {
			*to = (char)(hex_digit(from[2]) * 16 + hex_digit(from[3]));
			from += 4;
			if (!*to)
				return NULL;
		} else if (from[1] == '"' || from[1] == '\\') {
			*to = from[1];
			from += 2;
		} else {
			return NULL;
		}
	}
	if (*from != '"' || (from[1] && !is_blank(from[1])))
		return NULL;
	*at = from + 1;
	*to = '\0';
	return text;
}

struct word {
	char *key, *value;
}; /* value NULL: a word alone */

/* Return: 1; 0 at the end of the line; -EBADMSG. */
static int next_word(struct reader *in, char **at, struct word *ret)
{
	char *p = *at;

	while (is_blank(*p))
		p++;
	if (!*p || *p == '#')
		return 0;
	*ret = (struct word){ .key = p };
	if (*p == '"') {
		ret->key = take_quoted(&p);
		if (!ret->key)
			return bad(in, "a text in quotes is not whole");
		goto out;
	}
	while (*p && !is_blank(*p) && *p != '=')
		p++;
	if (*p == '=') {
		*p++ = '\0';
		ret->value = p;
		if (*p == '"') {
			ret->value = take_quoted(&p);
			if (!ret->value)
				return bad(in, "the text of %.40s is not whole", ret->key);
		}
		while (*p && !is_blank(*p))
			p++;
	}
out:
	if (*p)
		*p++ = '\0';
	*at = p;
	return 1;
}

/* ---- values ---- */

static int take_signed(const char *text, int64_t *ret)
{
	bool negative = *text == '-';
	uint64_t value;
	int rc = rs_uint_parse(text + negative, &value);

	if (rc < 0 || value > INT64_MAX)
		return -EINVAL;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

static int bad_value(struct reader *in, const struct word *word, const char *why)
{
	return bad(in, "%.40s=%.40s: %s", word->key, word->value ? word->value : "", why);
}

/* A value into its place. */
static int take_value(struct reader *in, const struct rs_key *key, const struct word *word, void *object)
{
	char *at = (char *)object + key->at;
	uint64_t value = 1;
	int64_t number;
	int rc = 0;

	if (key->kind == RS_KEY_FLAG) {
		if (word->value)
			return bad_value(in, word, "takes no value");
		*at = 1;
		return 0;
	}
	if (!word->value)
		return bad(in, "%.40s wants a value", word->key);
	if (key->kind == RS_KEY_INT || key->kind == RS_KEY_OFFSET) {
		int32_t narrow;

		if (take_signed(word->value, &number) < 0 || number < key->least || number > (int64_t)key->greatest)
			return bad_value(in, word, "is no number, or out of range");
		narrow = (int32_t)number;
		memcpy(at, &narrow, sizeof(narrow));
		return 0;
	}
	rc = key->kind == RS_KEY_TIME ? rs_time_parse(word->value, 1, &value) : rs_uint_parse(word->value, &value);
	if (rc < 0)
		return bad_value(in, word, key->kind == RS_KEY_TIME ? "is no time" : "is no number");
	if (value > key->greatest || value < (uint64_t)key->least)
		return bad_value(in, word, "is out of range");
	if (key->kind == RS_KEY_U32)
		memcpy(at, &(uint32_t){ (uint32_t)value }, sizeof(uint32_t));
	else if (key->kind == RS_KEY_U16)
		memcpy(at, &(uint16_t){ (uint16_t)value }, sizeof(uint16_t));
	else
		memcpy(at, &value, sizeof(value));
	return 0;
}

/* Return: 1 when the key is one of @keys; 0; -errno. */
static int take_key(struct reader *in, const struct rs_keys *keys, const struct word *word, void *object)
{
	for (unsigned int i = 0; i < keys->nr; i++) {
		if (!strcmp(keys->keys[i].name, word->key)) {
			int rc = take_value(in, &keys->keys[i], word, object);

			return rc < 0 ? rc : 1;
		}
	}
	return 0;
}

static int unknown_word(struct reader *in, const struct word *word)
{
	return bad(in, "'%.40s' is not known here", word->key);
}

static int take_name(struct reader *in, const char *text, uint32_t *ret)
{
	int64_t name = resched_names_intern(in->workload->names, text, strlen(text));

	if (name < 0)
		return rs_error_nomem(in->err);
	*ret = (uint32_t)name;
	return 0;
}

/* ---- kinds of lines; each gets the rest of the line after its first word ---- */

static int on_host(struct reader *in, char *rest)
{
	struct resched_error why = { 0 };
	int rc;

	while (is_blank(*rest))
		rest++;
	if (in->workload->host)
		return bad(in, "a second host");
	rc = resched_host_parse(rest, strlen(rest), &in->workload->host, &why);
	if (rc == -ENOMEM)
		return rs_error_nomem(in->err);
	return rc < 0 ? bad(in, "host: %.120s", why.text) : 0;
}

/* A line of nothing but keys. */
static int take_keys(struct reader *in, char *rest, const struct rs_keys *keys, void *object)
{
	struct word word;
	int rc;

	while ((rc = next_word(in, &rest, &word)) > 0) {
		rc = take_key(in, keys, &word, object);
		if (rc <= 0)
			return rc < 0 ? rc : unknown_word(in, &word);
	}
	return rc;
}

static int on_span(struct reader *in, char *rest)
{
	if (in->seen_span)
		return bad(in, "a second span");
	in->seen_span = true;
	return take_keys(in, rest, &rs_span_keys, in->workload);
}

static int on_timing(struct reader *in, char *rest)
{
	struct resched_workload_info *info = &in->workload->info;
	struct word word;
	int rc;

	if (in->seen_timing)
		return bad(in, "a second timing");
	in->seen_timing = true;
	while ((rc = next_word(in, &rest, &word)) > 0) {
		uint64_t millionths;

		if (!strcmp(word.key, "confidence") && word.value) {
			if (rs_uint_parse(word.value, &millionths) < 0 || millionths > 1000000)
				return bad_value(in, &word, "is 0 to 1000000");
			info->tick_confidence = (double)millionths / 1e6;
			continue;
		}
		rc = take_key(in, &rs_timing_keys, &word, in->workload);
		if (rc <= 0)
			return rc < 0 ? rc : unknown_word(in, &word);
	}
	return rc;
}

static int on_name(struct reader *in, char *rest)
{
	struct word word;
	uint32_t name;
	int rc = next_word(in, &rest, &word);

	if (rc <= 0 || word.value)
		return rc < 0 ? rc : bad(in, "name wants a text in quotes");
	rc = take_name(in, word.key, &name);
	if (rc == 0 && next_word(in, &rest, &word) != 0)
		return bad(in, "more than one text");
	return rc;
}

/* Keys of a task that are no plain numbers. Return: as take_key(). */
static int take_task_word(struct reader *in, const struct word *word, struct rs_program *program)
{
	struct rs_cpuset set;
	int number, rc;

	if (!word->value)
		return 0;
	if (!strcmp(word->key, "comm")) {
		rc = take_name(in, word->value, &program->comm);
		return rc < 0 ? rc : 1;
	}
	if (!strcmp(word->key, "start")) {
		number = rs_word_number(rs_birth_word, word->value);
		program->birth = (uint8_t)number;
		return number >= 0 ? 1 : bad_value(in, word, "is asleep, queued, running or forked");
	}
	if (!strcmp(word->key, "policy")) {
		number = rs_word_number(rs_policy_word, word->value);
		program->policy = number;
		return number >= 0 ? 1 : bad_value(in, word, "is other, batch, idle, fifo, rr or deadline");
	}
	if (!strcmp(word->key, "cpus")) {
		if (rs_cpulist_parse(word->value, &set) < 0)
			return bad_value(in, word, "is no list of cpus");
		free(program->affinity);
		program->affinity = strdup(word->value);
		return program->affinity ? 1 : rs_error_nomem(in->err);
	}
	return 0;
}

static int note_task_line(struct reader *in, uint32_t idx)
{
	if (idx >= in->lines_room) {
		uint32_t room = in->lines_room ? in->lines_room * 2 : 64;
		unsigned long *lines = realloc(in->task_lines, room * sizeof(*lines));

		if (!lines)
			return rs_error_nomem(in->err);
		in->task_lines = lines;
		in->lines_room = room;
	}
	in->task_lines[idx] = in->nr;
	return 0;
}

static int on_task(struct reader *in, char *rest)
{
	struct rs_program *program;
	struct word word;
	uint64_t number;
	int64_t idx;
	int rc = next_word(in, &rest, &word);

	if (rc < 0)
		return rc;
	if (!rc || word.value || rs_uint_parse(word.key, &number) < 0 || number != in->workload->nr_tasks)
		return bad(in, "task %" PRIu32 " comes next: tasks are numbered from 0", in->workload->nr_tasks);
	idx = rs_workload_add(in->workload, 0);
	if (idx < 0)
		return rs_error_nomem(in->err);
	rc = note_task_line(in, (uint32_t)idx);
	if (rc < 0)
		return rc;
	program = &in->workload->tasks[idx];
	program->loop_to = UINT32_MAX;
	program->birth = RS_BORN_QUEUED;
	in->ticks = NULL;
	while ((rc = next_word(in, &rest, &word)) > 0) {
		rc = take_task_word(in, &word, program);
		if (!rc)
			rc = take_key(in, &rs_task_keys, &word, program);
		if (rc <= 0)
			return rc < 0 ? rc : unknown_word(in, &word);
	}
	if (rc == 0 && !program->pid)
		return bad(in, "a task wants a pid");
	return rc;
}

static int on_grid(struct reader *in, char *rest)
{
	struct rs_program *program = in->workload->nr_tasks ? &in->workload->tasks[in->workload->nr_tasks - 1] : NULL;
	struct word word;
	int rc;

	if (!program || in->ticks || program->nr_ops)
		return bad(in, "a grid belongs right after its task");
	while ((rc = next_word(in, &rest, &word)) > 0) {
		uint64_t at;

		if (word.value || rs_uint_parse(word.key, &at) < 0 || at > RS_FILE_MAX_TIME_NS)
			return bad(in, "'%.40s' is no time of a grid", word.key);
		if (program->nr_grid && at < program->grid[program->nr_grid - 1])
			return bad(in, "a grid goes up, and %" PRIu64 " does not", at);
		if (!(program->nr_grid & (program->nr_grid - 1))) { /* full at every power of two */
			uint64_t *grid = realloc(program->grid, (program->nr_grid ? 2 * (size_t)program->nr_grid : 1) * sizeof(*grid));

			if (!grid)
				return rs_error_nomem(in->err);
			program->grid = grid;
		}
		program->grid[program->nr_grid++] = at;
	}
	return rc;
}

static int on_ticks(struct reader *in, char *rest)
{
	struct resched_workload *workload = in->workload;
	struct word word;
	uint64_t cpu;
	int rc = next_word(in, &rest, &word);

	if (rc < 0)
		return rc;
	if (!rc || word.value || rs_uint_parse(word.key, &cpu) < 0 || cpu >= RS_MAX_CPUS)
		return bad(in, "ticks wants the number of a cpu");
	if (!workload->info.tick_ns)
		return bad(in, "ticks before a timing that tells how long a tick is");
	if (cpu >= workload->nr_tick_cpus) {
		struct rs_tick_notes *ticks = realloc(workload->ticks, (cpu + 1) * sizeof(*ticks));

		if (!ticks)
			return rs_error_nomem(in->err);
		memset(ticks + workload->nr_tick_cpus, 0, (cpu + 1 - workload->nr_tick_cpus) * sizeof(*ticks));
		workload->ticks = ticks;
		workload->nr_tick_cpus = (unsigned int)cpu + 1;
	}
	in->ticks = &workload->ticks[cpu];
	in->ticks_room = in->ticks->nr;
	return in->ticks->nr ? bad(in, "a second list of ticks of this cpu") : 0;
}

static int on_tick(struct reader *in, char *rest)
{
	struct rs_tick_note note = { 0, RS_UNKNOWN, RS_UNKNOWN, RS_UNKNOWN };
	const struct resched_workload_info *info = &in->workload->info;
	struct rs_tick_notes *ticks = in->ticks;
	uint64_t nr;
	int rc = take_keys(in, rest, &rs_tick_keys, &note);

	if (rc < 0)
		return rc;
	if (!ticks || note.at_ns < info->tick_phase_ns)
		return bad(in, ticks ? "a tick wants at=, after the phase" : "a tick outside of ticks");
	nr = (note.at_ns - info->tick_phase_ns + info->tick_ns / 2) / info->tick_ns;
	if (!ticks->nr)
		ticks->first = nr;
	in->nr_tick_lines++;
	if (nr < ticks->first + ticks->nr || nr - ticks->first >= MAX_SPARSE_TICKS + in->nr_tick_lines * TICKS_PER_LINE)
		return bad(in, "ticks go up, one a tick, without huge gaps");
	nr -= ticks->first;
	if (nr >= in->ticks_room) {
		uint32_t room = 2 * (uint32_t)nr + 64;
		struct rs_tick_note *notes = realloc(ticks->notes, room * sizeof(*notes));

		if (!notes)
			return rs_error_nomem(in->err);
		ticks->notes = notes;
		in->ticks_room = room;
	}
	memset(ticks->notes + ticks->nr, 0, (nr - ticks->nr) * sizeof(*ticks->notes));
	ticks->notes[nr] = note;
	ticks->nr = (uint32_t)nr + 1;
	return 0;
}

/* ---- operations ---- */

/* The argument of an operation has a name of its own. Return: as take_key(). */
static int take_arg(struct reader *in, const struct word *word, struct rs_op *op)
{
	uint64_t value;
	int64_t prio;
	int number;

	if (!word->value || strcmp(word->key, rs_arg_name(op)) != 0)
		return 0;
	switch (op->kind) {
	case RS_OP_COMM:
		number = take_name(in, word->value, &op->arg);
		return number < 0 ? number : 1;
	case RS_OP_PRIO:
		if (take_signed(word->value, &prio) < 0 || prio < -1 || prio > 139)
			return bad_value(in, word, "is -1 to 139");
		op->arg = (uint32_t)prio;
		return 1;
	case RS_OP_ATTR:
		number = rs_word_number(rs_policy_word, word->value);
		if (number >= 0) {
			op->arg = (uint32_t)number;
			return 1;
		}
		break;
	default:
		break;
	}
	if (rs_uint_parse(word->value, &value) < 0 || value > UINT32_MAX)
		return bad_value(in, word, "is no number, or out of range");
	op->arg = (uint32_t)value;
	return 1;
}

static int take_state(struct reader *in, const struct word *word, struct rs_op *op)
{
	const char *letter = word->value && word->value[0] ? strchr(RS_SLEEP_LETTERS, word->value[0]) : NULL;

	if (!letter || word->value[1])
		return bad_value(in, word, "is one of S D I T t P O");
	op->state = (uint8_t)(letter - RS_SLEEP_LETTERS) & 7;
	return 1;
}

static int take_op_word(struct reader *in, const struct word *word, struct rs_op *op)
{
	int rc = take_arg(in, word, op);

	if (!rc)
		rc = take_key(in, &rs_op_keys, word, op);
	if (!rc && !strcmp(word->key, "state"))
		rc = take_state(in, word, op);
	if (!rc && !strcmp(word->key, "special") && !word->value) {
		op->special = 1;
		rc = 1;
	}
	return rc;
}

/* The rule of a sleep, what becomes of a wake, or who moves. Return: 1 when @word was that. */
static int take_rule(const struct word *word, struct rs_op *op)
{
	int rule;

	if (word->value || (op->kind != RS_OP_BLOCK && op->kind != RS_OP_WAKE && op->kind != RS_OP_MOVE))
		return 0;
	rule = rs_word_number(op->kind == RS_OP_BLOCK ? rs_rule_word : op->kind == RS_OP_MOVE ? rs_move_word
											      : rs_kept_word,
			      word->key);
	if (rule < 0)
		return 0;
	op->rule = (uint8_t)rule & 15;
	return 1;
}

/* "RUN VERB …" */
static int on_op(struct reader *in, const char *run, char *rest)
{
	struct rs_op op = { .clock_ns = RS_UNKNOWN, .wake_clock_ns = RS_UNKNOWN, .delay_ns = RS_UNKNOWN, .idle_clock_ns = RS_UNKNOWN }, *place;
	struct word word;
	int rc, kind;

	if (rs_time_parse(run, 1, &op.run_ns) < 0 || op.run_ns > RS_FILE_MAX_TIME_NS)
		return bad(in, "'%.40s' is neither the beginning of a line nor a time to run", run);
	if (!in->workload->nr_tasks || in->ticks)
		return bad(in, "an operation without a task");
	rc = next_word(in, &rest, &word);
	if (rc < 0)
		return rc;
	kind = rc && !word.value ? rs_word_number(rs_op_word, word.key) : -1;
	if (kind < 0)
		return bad(in, "'%.40s' is no operation", rc ? word.key : "");
	op.kind = (uint8_t)kind;
	for (bool first = true; (rc = next_word(in, &rest, &word)) > 0; first = false) {
		if (first && take_rule(&word, &op)) {
			op.arg = rs_arg_default(&op);
			continue;
		}
		rc = take_op_word(in, &word, &op);
		if (rc <= 0)
			return rc < 0 ? rc : unknown_word(in, &word);
	}
	if (rc < 0)
		return rc;
	place = rs_program_append(&in->workload->tasks[in->workload->nr_tasks - 1]);
	if (!place)
		return rs_error_nomem(in->err);
	*place = op;
	return 0;
}

static int take_line(struct reader *in)
{
	static const struct {
		const char *word;
		int (*take)(struct reader *in, char *rest);
	} kinds[] = {
		{ "host", on_host },
		{ "span", on_span },
		{ "timing", on_timing },
		{ "name", on_name },
		{ "task", on_task },
		{ "grid", on_grid },
		{ "ticks", on_ticks },
		{ "tick", on_tick },
	};
	char *rest = in->line, *first;

	while (is_blank(*rest))
		rest++;
	if (!*rest || *rest == '#')
		return 0;
	first = rest;
	while (*rest && !is_blank(*rest))
		rest++;
	if (*rest)
		*rest++ = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(first, kinds[i].word))
			return kinds[i].take(in, rest);
	}
	return on_op(in, first, rest);
}

/* ---- the whole ---- */

static int take_magic(struct reader *in)
{
	uint64_t version;
	int rc = next_line(in);

	if (rc < 0)
		return rc;
	if (!rc || strncmp(in->line, RS_FILE_MAGIC " ", sizeof(RS_FILE_MAGIC)) != 0 ||
	    rs_uint_parse(in->line + sizeof(RS_FILE_MAGIC), &version) < 0 || !version)
		return bad(in, "a workload begins with '" RS_FILE_MAGIC " %u'", RS_FILE_VERSION);
	if (version > RS_FILE_VERSION) {
		bad(in, "version %" PRIu64 " is from the future: this program reads %u", version, RS_FILE_VERSION);
		return -EPROTONOSUPPORT;
	}
	return 0;
}

/* What a hand-written file may leave out. */
static int fill_in(struct reader *in)
{
	struct resched_workload *workload = in->workload;
	struct resched_workload_info *info = &workload->info;

	if (!workload->host) {
		workload->host = calloc(1, sizeof(*workload->host));
		if (!workload->host)
			return rs_error_nomem(in->err);
		workload->host->autogroup = -1;
	}
	if (!info->hz) {
		info->hz = workload->host->hz && workload->host->hz <= 10000 ? workload->host->hz : 250;
		info->hz_assumed = !workload->host->hz;
	}
	if (!info->tick_ns)
		info->tick_ns = 1000000000 / info->hz;
	for (uint32_t i = 0; i < workload->nr_tasks && !workload->max_cpu; i++)
		workload->max_cpu = workload->host->nr_cpus ? 0 : workload->tasks[i].cpu + 1u;
	if (!workload->max_cpu && !workload->host->nr_cpus)
		workload->max_cpu = 1;
	rs_workload_count(workload);
	if (!info->nr_cpus)
		info->nr_cpus = workload->host->nr_cpus;
	return 0;
}

static int read_all(struct reader *in)
{
	int rc = take_magic(in);

	while (rc == 0 && (rc = next_line(in)) > 0)
		rc = take_line(in);
	if (rc == 0 && !in->seen_span)
		rc = rs_error_set(in->err, RESCHED_FAILED, -EBADMSG, "%.200s has no line 'span first=… last=…'", in->path);
	if (rc == 0)
		rc = fill_in(in);
	if (rc == 0)
		rc = rs_workload_check(in->workload, in->path, in->task_lines, in->err);
	return rc;
}

int resched_workload_read(FILE *stream, const char *name, struct resched_workload **ret, struct resched_error *err)
{
	struct reader in = { .in = stream, .path = name, .err = err };
	int rc;

	in.workload = rs_workload_alloc();
	if (!in.workload)
		return rs_error_nomem(err);
	rc = read_all(&in);
	if (rc == 0) {
		*ret = in.workload;
		in.workload = NULL;
	}
	resched_workload_free(in.workload);
	free(in.task_lines);
	free(in.line);
	return rc;
}

int resched_workload_load(const char *path, struct resched_workload **ret, struct resched_error *err)
{
	bool standard = !strcmp(path, "-");
	FILE *stream = standard ? stdin : fopen(path, "re");
	int rc;

	if (!stream)
		return rs_error_set(err, RESCHED_FAILED, -errno, "cannot open '%.300s':", path);
	rc = resched_workload_read(stream, standard ? "standard input" : path, ret, err);
	if (!standard)
		fclose(stream);
	return rc;
}

int resched_workload_recognise(const void *head, size_t len)
{
	return len >= sizeof(RS_FILE_MAGIC) && !memcmp(head, RS_FILE_MAGIC " ", sizeof(RS_FILE_MAGIC));
}
