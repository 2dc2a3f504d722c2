// SPDX-License-Identifier: GPL-2.0-only
/* Lines to clients. */
#include "daemon/server.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct asker asker_of(const struct client *client, struct json_object *request)
{
	struct json_object *id = NULL;

	json_object_object_get_ex(request, "id", &id);
	return (struct asker){ .client = client_number(client), .id = json_object_get(id) };
}

void asker_release(struct asker *asker)
{
	json_object_put(asker->id);
	*asker = (struct asker){ 0 };
}

/* {"v":1,"id":ID,KEY:VALUE,...} and the members of @fields. */
static void send_line(struct server *server, const struct asker *asker, const char *key, struct json_object *value, struct json_object *fields,
		      bool can_be_missed)
{
	struct json_object *line = json_object_new_object();
	const char *text;
	size_t len;
	char *copy;

	json_object_object_add(line, "v", json_object_new_int(PROTOCOL_VERSION));
	json_object_object_add(line, "id", json_object_get(asker->id));
	json_object_object_add(line, key, value);
	for (struct lh_entry *e = fields ? json_object_get_object(fields)->head : NULL; e; e = e->next)
		json_object_object_add(line, lh_entry_k(e), json_object_get((struct json_object *)lh_entry_v(e)));
	text = json_object_to_json_string_length(line, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	copy = malloc(len + 1);
	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\n';
		client_send(server, asker->client, copy, len + 1, can_be_missed);
	}
	free(copy);
	json_object_put(line);
	json_object_put(fields);
}

void answer_ok(struct server *server, const struct asker *asker, struct json_object *fields)
{
	send_line(server, asker, "ok", json_object_new_boolean(1), fields, false);
}

void answer_error(struct server *server, const struct asker *asker, const char *code, const char *fmt, ...)
{
	struct json_object *fields = json_object_new_object(), *error = json_object_new_object();
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_object_object_add(error, "code", json_object_new_string(code));
	json_object_object_add(error, "text", json_object_new_string(text));
	json_object_object_add(fields, "error", error);
	send_line(server, asker, "ok", json_object_new_boolean(0), fields, false);
}

void answer_event(struct server *server, const struct asker *asker, const char *event, struct json_object *fields, bool can_be_missed)
{
	send_line(server, asker, "event", json_object_new_string(event), fields, can_be_missed);
}
