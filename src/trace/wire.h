/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Protocol buffer wire format over memory, field by field, bounds checked. The error is sticky: after something impossible
 * rs_wire_next() returns false and bad is set. Knows no schema; a message is whatever its fields are.
 */
#ifndef RS_TRACE_WIRE_H
#define RS_TRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RS_WIRE_VARINT_MAX 10u	/* bytes */

enum rs_wire_type { RS_WIRE_VARINT = 0, RS_WIRE_FIXED64 = 1, RS_WIRE_BYTES = 2, RS_WIRE_FIXED32 = 5 };

struct rs_wire { const uint8_t *p, *end; bool bad; };

struct rs_wire_field {
	uint32_t nr;
	uint8_t type;			/* enum rs_wire_type */
	uint64_t value;			/* of a number */
	const uint8_t *data;		/* of bytes */
	size_t len;
};

static inline struct rs_wire rs_wire_of(const uint8_t *data, size_t len)
{
	return (struct rs_wire){ data, data + len, false };
}

static inline struct rs_wire rs_wire_message(const struct rs_wire_field *f)
{
	return rs_wire_of(f->data, f->len);
}

static inline uint64_t rs_wire_varint(struct rs_wire *w)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < RS_WIRE_VARINT_MAX && w->p < w->end; i++) {
		uint8_t b = *w->p++;

		v |= (uint64_t)(b & 0x7f) << (i * 7);
		if (!(b & 0x80))
			return v;
	}
	w->bad = true;
	return 0;
}

/* rs_wire_next() - the next field of the message. Return: false at its end, or when it is bad. */
static inline bool rs_wire_next(struct rs_wire *w, struct rs_wire_field *f)
{
	uint64_t tag;

	if (w->bad || w->p == w->end)
		return false;
	tag = rs_wire_varint(w);
	f->type = (uint8_t)(tag & 7);
	f->nr = (uint32_t)(tag >> 3);
	if (w->bad || !f->nr || tag >> 3 > (1u << 29) - 1)
		goto bad;
	f->data = w->p;
	f->len = 0;
	switch (f->type) {
	case RS_WIRE_VARINT:
		f->value = rs_wire_varint(w);
		return !w->bad;
	case RS_WIRE_BYTES:
		f->value = rs_wire_varint(w);
		if (w->bad || f->value > (uint64_t)(w->end - w->p))
			goto bad;
		f->len = (size_t)f->value;
		f->data = w->p;
		break;
	case RS_WIRE_FIXED64:
	case RS_WIRE_FIXED32:
		f->len = f->type == RS_WIRE_FIXED64 ? 8 : 4;
		if ((size_t)(w->end - w->p) < f->len)
			goto bad;
		f->value = 0;
		for (size_t i = 0; i < f->len; i++)
			f->value |= (uint64_t)w->p[i] << (i * 8);
		break;
	default:
		goto bad;
	}
	w->p += f->len;
	return true;
bad:
	w->bad = true;
	return false;
}

#endif
