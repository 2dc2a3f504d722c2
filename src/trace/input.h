/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes of a recording: a file read with pread (it may shrink or change under us: then reads come back short,
 * nothing faults) and a bounds-checked cursor over a stretch of it or over memory.
 */
#ifndef RS_TRACE_INPUT_H
#define RS_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <resched/error.h>

/* Largest single text or section that is taken into memory. */
#define RS_INPUT_MAX_TEXT (64u << 20)

struct rs_input {
	int fd;			/* -1: in memory */
	uint64_t size;		/* bytes when opened; of a spool, written so far */
	uint8_t *mem; size_t room;
};

/*
 * rs_input_open() - open a regular file; "-" or anything that cannot seek is copied to an unlinked temporary file first.
 * Return: 0; -errno (EACCES and EPERM as kind DENIED, EISDIR, ENODATA when empty).
 */
int rs_input_open(struct rs_input *in, const char *path, struct resched_error *err);
void rs_input_close(struct rs_input *in);

/* rs_input_read() - up to @len bytes at @off. Return: bytes read, short only at the end of the file or on a read error. */
size_t rs_input_read(const struct rs_input *in, uint64_t off, void *buf, size_t len);

/*
 * A spool is an input that is written first: a temporary file without a name, in $TMPDIR; or memory, where no file may be made, as in
 * a process that is confined.
 */
void rs_input_spool(struct rs_input *ret);
/* rs_input_spool_write() - all of @len bytes, behind what is there. Return: 0; -errno (ENOSPC, ENOMEM). */
int rs_input_spool_write(struct rs_input *spool, const void *from, size_t len);

/*
 * A cursor has a sticky error: after the first read past its end every read gives 0 and bad stays set. Test it
 * once a record. Over a file it keeps a small window; over memory it borrows.
 */
struct rs_cursor {
	const struct rs_input *in;	/* NULL: over memory */
	const uint8_t *mem;		/* memory, or the window of the file */
	uint64_t base;			/* position of mem[0] */
	size_t held;			/* bytes at mem */
	uint64_t pos, end;
	bool swap, bad;
	bool no_memory;			/* why it is bad: a text could not be kept */
	uint8_t window[8192];
};

void rs_cursor_file(struct rs_cursor *c, const struct rs_input *in, uint64_t pos, uint64_t end, bool swap);
void rs_cursor_memory(struct rs_cursor *c, const void *mem, size_t len, bool swap);

void rs_cursor_bytes(struct rs_cursor *c, void *ret, size_t len);	/* zeroes @ret past the end */
void rs_cursor_skip(struct rs_cursor *c, uint64_t len);
uint16_t rs_cursor_u16(struct rs_cursor *c);
uint32_t rs_cursor_u32(struct rs_cursor *c);
uint64_t rs_cursor_u64(struct rs_cursor *c);

/* rs_cursor_error() - of one that is bad, or of a text that was not had. Return: -ENOMEM; -EBADMSG. */
int rs_cursor_error(const struct rs_cursor *c);

/* rs_cursor_string() - a NUL terminated string into @ret; one that does not fit sets bad. */
void rs_cursor_string(struct rs_cursor *c, char *ret, size_t size);

/* rs_cursor_text() - @len bytes as an allocated NUL terminated text; NULL (and bad) past the end, over the limit or without memory. */
char *rs_cursor_text(struct rs_cursor *c, uint64_t len);

static inline uint64_t rs_cursor_left(const struct rs_cursor *c)
{
	return c->bad ? 0 : c->end - c->pos;
}

/* Loads of any alignment in the recording's byte order. */
static inline uint16_t rs_load_u16(const uint8_t *p, bool swap)
{
	uint16_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t rs_load_u32(const uint8_t *p, bool swap)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t rs_load_u64(const uint8_t *p, bool swap)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

#endif
