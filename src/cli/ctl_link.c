// SPDX-License-Identifier: GPL-2.0-only
#include "cli/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define DEPTH 48

static int tell(struct resched_error *err, int rc, const char *what, const char *path)
{
	err->kind = rc == -EACCES || rc == -EPERM ? RESCHED_DENIED : RESCHED_FAILED;
	snprintf(err->text, sizeof(err->text), "%s '%s': %s%s", what, path, strerror(-rc),
		 rc == -ENOENT || rc == -ECONNREFUSED ? "; is reschedd running?" : "");
	return rc;
}

int ctl_open(const char *path, struct ctl_link *ret, struct resched_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, copy;

	*ret = (struct ctl_link){ .fd = -1 };
	if (strlen(path) >= sizeof(address.sun_path))
		return tell(err, -ENAMETOOLONG, "cannot connect to", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int rc = tell(err, -errno, "cannot connect to", path);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	copy = dup(fd);
	ret->in = copy < 0 ? NULL : fdopen(copy, "r");
	ret->fd = fd;
	return ret->in ? 0 : tell(err, -ENOMEM, "cannot read from", path);
}

void ctl_close(struct ctl_link *link)
{
	if (link->in)
		fclose(link->in);
	if (link->fd >= 0)
		close(link->fd);
	free(link->line);
	*link = (struct ctl_link){ .fd = -1 };
}

int ctl_send(struct ctl_link *link, struct json_object *request, struct resched_error *err)
{
	const char *text;
	size_t len, at = 0;
	int rc = 0;

	json_object_object_add(request, "v", json_object_new_int(1));
	text = json_object_to_json_string_length(request, JSON_C_TO_STRING_PLAIN, &len);
	while (at <= len && rc == 0) {	/* and the line's end */
		ssize_t n = at < len ? send(link->fd, text + at, len - at, MSG_NOSIGNAL) : send(link->fd, "\n", 1, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR && errno != EPIPE)
			rc = tell(err, -errno, "cannot write to", "the daemon");
		else if (n < 0 && errno == EPIPE)
			break;	/* it has said why before it closed: that is read next */
		else if (n > 0)
			at += (size_t)n;
	}
	json_object_put(request);
	return rc;
}

/* The daemon's refusals as exit codes. */
static int refusal(struct json_object *line, struct resched_error *err)
{
	struct json_object *error = ctl_member(line, "error");
	const char *code = ctl_text(error, "code");

	err->kind = !strcmp(code, "denied") ? RESCHED_DENIED : !strcmp(code, "bad_request") ? RESCHED_USAGE : RESCHED_FAILED;
	snprintf(err->text, sizeof(err->text), "%s", ctl_text(error, "text"));
	return err->kind == RESCHED_DENIED ? -EPERM : -EREMOTEIO;
}

int ctl_receive(struct ctl_link *link, struct json_object **ret, struct resched_error *err)
{
	struct json_tokener *tokener;
	struct json_object *line;
	ssize_t len = getline(&link->line, &link->size, link->in);
	int rc;

	if (len <= 0) {
		*err = (struct resched_error){ RESCHED_FAILED, "the daemon closed the connection" };
		return -EPIPE;
	}
	tokener = json_tokener_new_ex(DEPTH);
	line = tokener && len < INT32_MAX ? json_tokener_parse_ex(tokener, link->line, (int)len) : NULL;
	if (tokener)
		json_tokener_free(tokener);
	if (!json_object_is_type(line, json_type_object)) {
		json_object_put(line);
		*err = (struct resched_error){ RESCHED_FAILED, "the daemon's answer cannot be read; is it of another version?" };
		return -EPROTO;
	}
	*ret = line;
	if (ctl_member(line, "event"))
		return 1;
	if (json_object_get_boolean(ctl_member(line, "ok")))
		return 0;
	*ret = NULL;
	rc = refusal(line, err);
	json_object_put(line);
	return rc;
}

struct json_object *ctl_member(struct json_object *from, const char *name)
{
	struct json_object *value;

	return json_object_is_type(from, json_type_object) && json_object_object_get_ex(from, name, &value) ? value : NULL;
}

const char *ctl_text(struct json_object *from, const char *name)
{
	struct json_object *value = ctl_member(from, name);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

uint64_t ctl_number(struct json_object *from, const char *name)
{
	return json_object_get_uint64(ctl_member(from, name));
}
