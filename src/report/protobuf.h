/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing protobuf messages into a growing buffer: varints, texts, and messages inside of messages. A zeroed struct rs_pb is empty;
 * once memory is short it stays failed. Wire format: protobuf.dev, "Encoding".
 */
#ifndef RS_REPORT_PROTOBUF_H
#define RS_REPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rs_pb { uint8_t *data; size_t len, room; bool failed; };

void rs_pb_u64(struct rs_pb *pb, unsigned int field, uint64_t value);
void rs_pb_i64(struct rs_pb *pb, unsigned int field, int64_t value);	/* int32, int64: ten bytes when negative */
void rs_pb_text(struct rs_pb *pb, unsigned int field, const char *text);
void rs_pb_bytes(struct rs_pb *pb, unsigned int field, const void *data, size_t len);

/* rs_pb_begin() - a message follows, until rs_pb_end() gets what was returned here. They nest. */
size_t rs_pb_begin(struct rs_pb *pb, unsigned int field);
void rs_pb_end(struct rs_pb *pb, size_t begun);

/* rs_pb_append() - what is in @from as it is, for parts of a message that were made elsewhere. */
void rs_pb_append(struct rs_pb *pb, const struct rs_pb *from);

void rs_pb_release(struct rs_pb *pb);

#endif
