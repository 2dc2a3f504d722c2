// SPDX-License-Identifier: GPL-2.0-only
/* resched_trace: opening a recording of whatever format, what it is, and closing it. */
#include "trace/trace_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "trace/perf.h"
#include "trace/perfetto.h"
#include "trace/sniff.h"
#include "trace/text.h"
#include "trace/unpack.h"

/* Formats other than trace.dat, in the order in which they are tried. */
static const struct rs_reader_ops *const readers[] = { &rs_perf_ops, &rs_perfetto_ops, &rs_text_ops, NULL };	/* text is last: it has no magic */

static const struct rs_reader_ops *find_reader(const struct rs_input *in)
{
	size_t i = 0;

	while (readers[i] && !readers[i]->is(in))
		i++;
	return readers[i];
}

static int open_reader(struct resched_trace *t, const char *path, struct resched_error *err)
{
	struct rs_recording rec = { .in = &t->in, .notes = &t->notes, .names = t->names, .source = &t->source, .host = &t->host };

	if (rs_dat_is(&t->in))
		return rs_trace_open_dat(t, err);
	if (rs_raw_is_tar(&t->in))
		return rs_trace_open_raw(t, NULL, err);
	t->ops = find_reader(&t->in);
	return t->ops ? t->ops->open(&rec, &t->reader, err) : rs_sniff_refuse(&t->in, path, err);
}

/* Text is unpacked as it is read; other formats seek, so that they are unpacked to a temporary file first. */
static int open_any(struct resched_trace *t, const char *path, struct resched_error *err)
{
	uint8_t head[8];
	enum rs_pack pack = rs_pack_of(head, rs_input_read(&t->in, 0, head, sizeof(head)));
	int rc = 0;

	if (pack != RS_PACK_NONE && !rs_text_ops.is(&t->in))
		rc = rs_unpack_spool(&t->in, pack, &t->notes, err);
	if (rc == 0)
		rc = open_reader(t, path, err);
	if (rc < 0 || pack == RS_PACK_NONE)
		return rc;
	if (asprintf(&t->format, "%s (%s)", t->source.format, rs_pack_name(pack)) < 0) {
		t->format = NULL;
		return rs_error_nomem(err);
	}
	t->source.format = t->format;
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int resched_trace_open(const char *path, struct resched_trace **ret, struct resched_error *err)
{
	struct resched_trace *t = calloc(1, sizeof(*t));
	struct resched_error inner = { 0 };
	int rc;

	if (!t)
		return rs_error_nomem(err);
	t->in.fd = -1;
	t->file = strdup(path);
	t->names = resched_names_new();
	rc = t->file && t->names ? 0 : rs_error_nomem(&inner);
	if (rc == 0 && is_folder(path)) {
		rc = rs_trace_open_raw(t, path, &inner);
	} else if (rc == 0) {
		rc = rs_input_open(&t->in, path, &inner);
		if (rc == 0)
			rc = open_any(t, path, &inner);
	}
	if (rc < 0) {
		/* texts of the frame do not know the file's name */
		if (strstr(inner.text, path) || inner.text[0] == '\'' || rc == -ENOMEM || !strncmp(inner.text, "cannot ", 7)) {
			if (err)
				*err = inner;
		} else {
			rs_error_set(err, inner.kind, rc, "'%s': %s", path, inner.text);
		}
		resched_trace_free(t);
		return rc;
	}
	t->source.file = t->file;
	*ret = t;
	return 0;
}

const struct resched_source *resched_trace_source(const struct resched_trace *t)
{
	rs_trace_refresh_source((struct resched_trace *)(uintptr_t)t);	/* const to the caller: only views are brought up to date */
	return &t->source;
}

const struct resched_truth *resched_trace_truth(const struct resched_trace *t)
{
	return t->has_truth ? &t->truth : NULL;
}

const struct resched_host *resched_trace_host(const struct resched_trace *t)
{
	return t->host;
}

struct resched_names *resched_trace_names(const struct resched_trace *t)
{
	return t->names;
}

void resched_trace_free(struct resched_trace *t)
{
	if (!t)
		return;
	rs_ahead_free(t->ahead);
	for (unsigned int i = 0; i < t->nr_streams; i++)
		rs_lane_release(&t->streams[i].lane);
	if (t->reader)
		t->ops->free(t->reader);
	for (unsigned int i = 0; t->counts && i < t->source.nr_events; i++)
		free(t->counts[i].name);
	free(t->counts);
	free(t->streams);
	free(t->heap);
	rs_stream_shared_release(&t->shared);
	rs_comms_release(&t->comms);
	rs_decoder_release(&t->dec);
	rs_edges_release(&t->edges);
	rs_dat_release(&t->dat);
	rs_raw_free(t->raw);
	resched_host_free(t->host);
	resched_names_free(t->names);
	rs_notes_release(&t->notes);
	rs_input_close(&t->in);
	free(t->file);
	free(t->format);
	free(t);
}
