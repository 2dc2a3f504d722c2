/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file a recording goes to. It is begun without a name, and gets it in one step when there is something worth reading in it:
 * a recording that was there before stays until then.
 */
#ifndef RS_CAPTURE_OUTPUT_H
#define RS_CAPTURE_OUTPUT_H

#include <sys/types.h>

#include <resched/error.h>

struct rs_output {
	int fd;		/* -1: not open */
	char *path;	/* where it goes; symbolic links followed */
	char *dir;	/* its folder */
	char *temp;	/* name it has until it is published, where files cannot be without one; else NULL */
	mode_t mode;	/* 0600, or that of the file it replaces */
	uid_t uid;
	gid_t gid;
};

/*
 * rs_output_open() - check that @path can be written and open the nameless file beside it.
 * Return: 0; -EISDIR, -EINVAL (not a regular file), -EACCES, -ENOENT, -EROFS, -ENOSPC ...; -ENOMEM.
 */
int rs_output_open(struct rs_output *out, const char *path, struct resched_error *err);

/* rs_output_publish() - give the file its name, replacing what is there in one step. */
int rs_output_publish(struct rs_output *out, struct resched_error *err);

/*
 * rs_output_show() - the same as early as there is something to read, and the file is written further. Where this file system
 * cannot give a nameless file a name: -errno, and rs_output_settle() does it by copying.
 */
int rs_output_show(struct rs_output *out);

/* rs_output_settle() - publish what was not shown, or whose name was given to another file meanwhile. */
int rs_output_settle(struct rs_output *out, struct resched_error *err);

/* rs_output_replace() - @fd, which becomes the output's, is what will be published. */
void rs_output_replace(struct rs_output *out, int fd);

void rs_output_release(struct rs_output *out);

#endif
