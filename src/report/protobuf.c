// SPDX-License-Identifier: GPL-2.0-only
#include "report/protobuf.h"

#include <stdlib.h>
#include <string.h>

#define VARINT 0u
#define LENGTH 2u
#define VARINT_MAX 10u

/* Room for @more bytes; false without memory. */
static bool reserve(struct rs_pb *pb, size_t more)
{
	size_t room = pb->room ? pb->room : 256;
	uint8_t *grown;

	if (pb->failed)
		return false;
	if (pb->room - pb->len >= more)
		return true;
	while (room - pb->len < more)
		room *= 2;
	grown = realloc(pb->data, room);
	if (!grown) {
		pb->failed = true;
		return false;
	}
	pb->data = grown;
	pb->room = room;
	return true;
}

static size_t encode(uint8_t to[VARINT_MAX], uint64_t value)
{
	size_t n = 0;

	while (value >= 0x80) {
		to[n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	to[n++] = (uint8_t)value;
	return n;
}

static void put_varint(struct rs_pb *pb, uint64_t value)
{
	if (reserve(pb, VARINT_MAX))
		pb->len += encode(pb->data + pb->len, value);
}

static void put_tag(struct rs_pb *pb, unsigned int field, unsigned int type)
{
	put_varint(pb, (uint64_t)field << 3 | type);
}

void rs_pb_u64(struct rs_pb *pb, unsigned int field, uint64_t value)
{
	put_tag(pb, field, VARINT);
	put_varint(pb, value);
}

void rs_pb_i64(struct rs_pb *pb, unsigned int field, int64_t value)
{
	rs_pb_u64(pb, field, (uint64_t)value);
}

void rs_pb_bytes(struct rs_pb *pb, unsigned int field, const void *data, size_t len)
{
	put_tag(pb, field, LENGTH);
	put_varint(pb, len);
	if (len && reserve(pb, len)) {
		memcpy(pb->data + pb->len, data, len);
		pb->len += len;
	}
}

void rs_pb_text(struct rs_pb *pb, unsigned int field, const char *text)
{
	rs_pb_bytes(pb, field, text, strlen(text));
}

/* Most messages are shorter than 128 bytes, so one byte is kept for the length; longer ones are moved. */
size_t rs_pb_begin(struct rs_pb *pb, unsigned int field)
{
	put_tag(pb, field, LENGTH);
	if (reserve(pb, 1))
		pb->data[pb->len++] = 0;
	return pb->len;
}

void rs_pb_end(struct rs_pb *pb, size_t begun)
{
	uint8_t head[VARINT_MAX];
	size_t len = pb->len - begun, n;

	if (pb->failed)
		return;
	n = encode(head, len);
	if (!reserve(pb, n))
		return;
	memmove(pb->data + begun + n - 1, pb->data + begun, len);
	memcpy(pb->data + begun - 1, head, n);
	pb->len += n - 1;
}

void rs_pb_append(struct rs_pb *pb, const struct rs_pb *from)
{
	pb->failed |= from->failed;
	if (from->len && reserve(pb, from->len)) {
		memcpy(pb->data + pb->len, from->data, from->len);
		pb->len += from->len;
	}
}

void rs_pb_release(struct rs_pb *pb)
{
	free(pb->data);
	memset(pb, 0, sizeof(*pb));
}
