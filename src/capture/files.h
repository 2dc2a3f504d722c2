/* SPDX-License-Identifier: GPL-2.0-only */
/* Small text files of /proc, /sys and tracefs. All return 0 or a count, else -errno. */
#ifndef RS_CAPTURE_FILES_H
#define RS_CAPTURE_FILES_H

#include <stddef.h>
#include <stdint.h>

/* rs_file_read() - the whole file into @buf, NUL terminated and cut to @size - 1 bytes, final
 * newlines removed. Return: its length. */
int rs_file_read(const char *path, char *buf, size_t size);

/* rs_file_read_all() - the whole file, allocated, NUL terminated; at most @limit bytes, -EFBIG
 * beyond. *@ret is the caller's. */
int rs_file_read_all(const char *path, size_t limit, char **ret, size_t *ret_len);

/* rs_file_write() - write @text in one call to a file that exists; rs_file_append() the same at its
 * end. */
int rs_file_write(const char *path, const char *text);
int rs_file_append(const char *path, const char *text);

/* All of @len bytes at @at of a file; a short read is -EIO. */
int rs_read_at(int fd, void *data, size_t len, uint64_t at);
int rs_write_at(int fd, const void *data, size_t len, uint64_t at);

/* rs_access() - access() with the capabilities of this process, which access() leaves out for users other than root.
 * Return: 0; -1 and errno. */
int rs_access(const char *path, int mode);

#endif
