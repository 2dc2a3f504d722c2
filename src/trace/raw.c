// SPDX-License-Identifier: GPL-2.0-only
#include "trace/raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/tar.h"

#define FILES_MAX 50000u		/* all of tracefs has some 20,000 */
#define DEPTH_MAX 8u
#define TEXT_MAX (1u << 20)		/* of a format, header_page or trace_clock */
#define TRACEFS_TYPE 0x74726163
#define DEBUGFS_TYPE 0x64626720

/* What the kernel has had since 2.6.35 on 64-bit machines with pages of 4 KiB. */
static const char default_header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

bool rs_raw_is_tar(const struct rs_input *in)
{
	return rs_tar_is(in);
}

struct rs_raw {
	struct rs_dat *dat;
	struct rs_notes *notes;
	unsigned int nr_inputs;
	struct rs_input **inputs;	/* of a folder's page files; they stay open */
	unsigned int nr_files, nr_pages_files, nr_empty_formats;
	bool too_many;
	dev_t device;			/* a folder is not left for another file system */
};

/* ---- one file, of a folder or a tar */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "cpu12" at @p, up to the end of the component or an extension. Return: false when it is no such thing. */
static bool cpu_component(const char *p, uint32_t *ret)
{
	unsigned long v = 0;
	const char *q;

	if (strncmp(p, "cpu", 3) != 0)
		return false;
	for (q = p + 3; *q >= '0' && *q <= '9' && v < RS_DAT_MAX_CPUS; q++)
		v = v * 10 + (unsigned long)(*q - '0');
	if (q == p + 3 || (*q && *q != '/' && *q != '.'))
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* trace_pipe_raw below a folder of a cpu, or a file that is itself called so. */
static bool page_file(const char *path, uint32_t *ret_cpu)
{
	const char *base = base_name(path);
	bool found = false;

	if (cpu_component(base, ret_cpu))
		return true;
	if (strncmp(base, "trace_pipe_raw", 14) != 0)
		return false;
	for (const char *p = path; p && p < base; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		found |= cpu_component(p, ret_cpu);
	return found;
}

static char *load_text(const struct rs_input *in, uint64_t off, uint64_t size)
{
	char *text = size <= TEXT_MAX ? malloc((size_t)size + 1) : NULL;

	if (text)
		text[rs_input_read(in, off, text, (size_t)size)] = '\0';
	return text;
}

static int take_clock(struct rs_raw *raw, const char *text)
{
	struct rs_cursor *c = malloc(sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	rs_cursor_memory(c, text, strlen(text), false);
	rc = rs_dat_option(raw->dat, RS_DAT_CLOCK, c, (uint32_t)strlen(text));
	free(c);
	return rc == -ENOMEM ? rc : 0;
}

static int take_pages(struct rs_raw *raw, uint32_t cpu, const struct rs_input *in, uint64_t off, uint64_t size, uint64_t missing)
{
	struct rs_dat_buffer *buf = &raw->dat->buffers[0];
	struct rs_dat_cpu *cpus;

	for (unsigned int i = 0; i < buf->nr_cpus; i++) {
		if (buf->cpus[i].cpu == cpu) {
			rs_note(raw->notes, "pages of CPU%u are there twice; the second file is left out", cpu);
			return 0;
		}
	}
	if (cpu >= RS_DAT_MAX_CPUS) {
		rs_note_damage(raw->notes, "pages of a CPU numbered %u are left out", cpu);
		return 0;
	}
	cpus = realloc(buf->cpus, (buf->nr_cpus + 1) * sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	buf->cpus = cpus;
	cpus[buf->nr_cpus++] = (struct rs_dat_cpu){ .cpu = cpu, .in = in, .off = off, .size = size, .missing = missing };
	return 0;
}

/* A text by its content. Takes @text over. */
static int take_text(struct rs_raw *raw, const char *path, char *text)
{
	const char *base = base_name(path);
	int rc = 0;

	if (!strncmp(text, "name: ", 6))
		return rs_dat_add_event(raw->dat, text);
	if (!strncmp(text, "\tfield: u64 timestamp;", 22) || !strcmp(base, "header_page")) {
		free(raw->dat->header_page);
		raw->dat->header_page = text;
		return 0;
	}
	if (!strncmp(base, "saved_cmdlines", 14) && !raw->dat->cmdlines && text[strspn(text, " ")] >= '0' && text[strspn(text, " ")] <= '9') {
		raw->dat->cmdlines = text;
		return 0;
	}
	if (!strcmp(base, "trace_clock"))
		rc = take_clock(raw, text);
	if (!strcmp(base, "uname") && !strncmp(text, "Linux ", 6)) {
		free(raw->dat->uname);
		raw->dat->uname = text;
		return 0;
	}
	free(text);
	return rc;
}

static bool text_wanted(const char *path, const char head[8])
{
	static const char *const names[] = { "header_page", "trace_clock", "uname", "saved_cmdlines" };
	const char *base = base_name(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(base, names[i]))
			return true;
	}
	return !strncmp(head, "name: ", 6) || !strncmp(head, "\tfield:", 7);
}

/* @size bytes at @off of @in, of which @missing more should be there. Return: 1: @in must stay; 0; -ENOMEM. */
static int take_file(struct rs_raw *raw, const char *path, const struct rs_input *in, uint64_t off, uint64_t size, uint64_t missing)
{
	char head[8] = "";
	uint32_t cpu;
	char *text;

	if (page_file(path, &cpu)) {
		raw->nr_pages_files++;
		return take_pages(raw, cpu, in, off, size, missing) < 0 ? -ENOMEM : 1;
	}
	raw->nr_empty_formats += !size && !strcmp(base_name(path), "format");
	rs_input_read(in, off, head, size < sizeof(head) - 1 ? (size_t)size : sizeof(head) - 1);
	if (!size || raw->dat->nr_events >= RS_DAT_MAX_EVENTS || !text_wanted(path, head))
		return 0;
	text = load_text(in, off, size);
	return text ? take_text(raw, path, text) : size > TEXT_MAX ? 0 : -ENOMEM;
}

/* ---- folders */

static int keep_input(struct rs_raw *raw, struct rs_input *in)
{
	struct rs_input **list = realloc(raw->inputs, (raw->nr_inputs + 1) * sizeof(struct rs_input *));

	if (!list)
		return -ENOMEM;
	raw->inputs = list;
	list[raw->nr_inputs++] = in;
	return 0;
}

static int visit_file(struct rs_raw *raw, const char *path, uint64_t size)
{
	struct rs_input *in = calloc(1, sizeof(*in));
	int rc;

	if (!in)
		return -ENOMEM;
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	in->size = size;
	if (in->fd < 0) {
		uint32_t cpu;

		if (page_file(path, &cpu))
			rs_note_damage(raw->notes, "the pages of CPU%u cannot be opened: %s", cpu, strerror(errno));
		free(in);
		return 0;
	}
	rc = take_file(raw, path, in, 0, size, 0);
	if (rc > 0 && keep_input(raw, in) == 0)
		return 0;
	close(in->fd);
	free(in);
	return rc > 0 ? -ENOMEM : rc;
}

static int not_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visit_dir(struct rs_raw *raw, const char *dir, unsigned int depth)
{
	struct dirent **list = NULL;
	int nr = depth > DEPTH_MAX ? 0 : scandir(dir, &list, not_dots, by_name), rc = 0;

	for (int i = 0; i < nr; i++) {
		char path[4096];
		struct stat st;

		if (rc < 0 || snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name) >= (int)sizeof(path) || lstat(path, &st) < 0) {
			free(list[i]);
			continue;
		}
		free(list[i]);
		if (raw->nr_files >= FILES_MAX)
			raw->too_many = true;
		else if (S_ISDIR(st.st_mode) && st.st_dev == raw->device)
			rc = visit_dir(raw, path, depth + 1);
		else if (S_ISREG(st.st_mode) && ++raw->nr_files)
			rc = visit_file(raw, path, st.st_size > 0 ? (uint64_t)st.st_size : 0);
	}
	free(list);
	return rc;
}

/* ---- opening */

static int visit_tar(struct rs_raw *raw, const struct rs_input *in)
{
	struct rs_tar *tar = calloc(1, sizeof(*tar));
	int rc = tar ? 0 : -ENOMEM;

	while (rc == 0 && rs_tar_next(tar, in)) {
		if (raw->nr_files++ >= FILES_MAX) {
			raw->too_many = true;
			break;
		}
		if (tar->regular)
			rc = take_file(raw, tar->path, in, tar->off, tar->size, tar->missing);
		rc = rc > 0 ? 0 : rc;
	}
	if (tar && tar->damaged)
		rs_note_damage(raw->notes, "the tar is %s at byte %llu; what is before is used", tar->cut ? "cut" : "damaged",
			       (unsigned long long)tar->at);
	free(tar);
	return rc;
}

/* Pages do not tell their byte order: the length in the head of the first that has one does. */
static bool looks_big(const struct rs_dat_buffer *buf)
{
	uint8_t head[16];

	for (unsigned int i = 0; i < buf->nr_cpus; i++) {
		uint32_t low, high;

		if (buf->cpus[i].size < sizeof(head) || rs_input_read(buf->cpus[i].in, buf->cpus[i].off, head, sizeof(head)) != sizeof(head))
			continue;
		low = (uint32_t)head[8] | (uint32_t)head[9] << 8 | (uint32_t)(head[10] | (head[11] & 0x3f)) << 16;
		high = (uint32_t)head[15] | (uint32_t)head[14] << 8 | (uint32_t)head[13] << 16;
		if (!low && !high)
			continue;
		if (low && low <= 65536)
			return false;
		low = (uint32_t)head[11] | (uint32_t)head[10] << 8;	/* of a 32-bit kernel */
		return (high && high <= 65536) || (low && !(head[9] | (head[8] & 0x3f)));
	}
	return false;
}

static int compare_cpus(const void *a, const void *b)
{
	const struct rs_dat_cpu *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int check(struct rs_raw *raw, const char *what, struct resched_error *err)
{
	struct rs_dat *dat = raw->dat;
	enum resched_error_kind kind = raw->notes->damaged ? RESCHED_DAMAGED : RESCHED_FAILED;

	if (!raw->nr_pages_files && !dat->nr_events)
		return rs_error_set(err, kind, -EBADMSG, "no recording: the %s holds neither ring buffer pages (cpuN/trace_pipe_raw) nor event "
				    "formats; name a recording in it", what);
	if (!raw->nr_pages_files)
		return rs_error_set(err, kind, -EBADMSG, "the %s holds event formats but no ring buffer pages (cpuN/trace_pipe_raw)", what);
	if (!dat->nr_events)
		return rs_error_set(err, kind, -EBADMSG, "the %s holds ring buffer pages but no event formats (events/sched/sched_switch/format)%s", what,
				    raw->notes->damaged ? ", it is cut before them" : raw->nr_empty_formats ? "; the format files are empty, as tar and cp without reading them leave files of tracefs: "
				    "copy them with cat" : "; copy events/sched and events/header_page of tracefs beside them");
	if (raw->too_many)
		rs_note(raw->notes, "only %u files were looked at", FILES_MAX);
	if (!dat->header_page) {
		rs_note(raw->notes, "header_page is missing: pages are taken to be of 4096 bytes and of a 64-bit kernel");
		dat->header_page = strdup(default_header_page);
		if (!dat->header_page)
			return rs_error_nomem(err);
	}
	return 0;
}

int rs_raw_open(const struct rs_input *in, const char *dir, struct rs_dat *dat, struct rs_notes *notes, struct rs_raw **ret,
		struct resched_error *err)
{
	struct rs_raw *raw = calloc(1, sizeof(*raw));
	struct rs_dat_buffer *buf = raw ? rs_dat_add_buffer(dat) : NULL;
	struct statfs fs;
	struct stat st;
	int rc;

	if (!buf)
		goto nomem;
	buf->name = strdup("");
	raw->dat = dat;
	raw->notes = notes;
	dat->notes = notes;
	dat->in = in;
	if (!buf->name)
		goto nomem;
	if (!in && statfs(dir, &fs) == 0 && (fs.f_type == TRACEFS_TYPE || fs.f_type == DEBUGFS_TYPE)) {
		rc = rs_error_set(err, RESCHED_FAILED, -EISDIR, "'%s' is the kernel's tracing folder itself, reading which would take the events away; "
				  "record with 'resched record'", dir);
		goto fail;
	}
	if (!in && stat(dir, &st) == 0)
		raw->device = st.st_dev;
	rc = in ? visit_tar(raw, in) : visit_dir(raw, dir, 0);
	if (rc < 0)
		goto nomem;
	rc = check(raw, in ? "tar" : "folder", err);
	if (rc < 0)
		goto fail;
	qsort(buf->cpus, buf->nr_cpus, sizeof(*buf->cpus), compare_cpus);
	dat->big = looks_big(buf);
	dat->swap = dat->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	*ret = raw;
	return 0;
nomem:
	rc = rs_error_nomem(err);
fail:
	rs_raw_free(raw);
	return rc;
}

void rs_raw_free(struct rs_raw *raw)
{
	if (!raw)
		return;
	for (unsigned int i = 0; i < raw->nr_inputs; i++) {
		rs_input_close(raw->inputs[i]);
		free(raw->inputs[i]);
	}
	free(raw->inputs);
	free(raw);
}
