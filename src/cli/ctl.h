/* SPDX-License-Identifier: GPL-2.0-only */
/* The client's side of resched-protocol(5), and its answers as text. */
#ifndef CLI_CTL_H
#define CLI_CTL_H

#include <stdbool.h>
#include <stdio.h>
#include <json-c/json.h>
#include <resched/error.h>

#define CTL_SOCKET "/run/resched/control.sock"

struct ctl_link { FILE *in; int fd; char *line; size_t size; };

/* ctl_open() - connect to @path. Return: 0; -errno with @err filled. */
int ctl_open(const char *path, struct ctl_link *ret, struct resched_error *err);
void ctl_close(struct ctl_link *link);
/* ctl_send() - @request gets version and id, and is taken over. Return: 0; -errno with @err filled. */
int ctl_send(struct ctl_link *link, struct json_object *request, struct resched_error *err);
/* ctl_receive() - the next line; the caller's to put. Return: 1 an event, 0 the answer; -errno with @err filled, also when the
 * answer is a refusal. */
int ctl_receive(struct ctl_link *link, struct json_object **ret, struct resched_error *err);

/* Members, with a value for those that are not there. */
const char *ctl_text(struct json_object *from, const char *name);
uint64_t ctl_number(struct json_object *from, const char *name);
struct json_object *ctl_member(struct json_object *from, const char *name);	/* NULL: none */

/* ctl_text.c: what came, for people. */
void ctl_print_status(FILE *out, struct json_object *answer);
void ctl_print_snapshots(FILE *out, struct json_object *answer);
void ctl_print_snapshot(FILE *out, struct json_object *answer);
void ctl_print_jobs(FILE *out, struct json_object *answer);
void ctl_print_series(FILE *out, struct json_object *answer);
void ctl_print_event(FILE *out, struct json_object *event);

#endif
