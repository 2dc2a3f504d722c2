// SPDX-License-Identifier: GPL-2.0-only
#include <resched/owner.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ID_LEN 64u	/* of a container, in hexadecimal digits */
#define ID_SHOWN 12

/* One component of a path. */
struct part { const char *text; size_t len; };

static bool begins(struct part p, const char *prefix)
{
	size_t len = strlen(prefix);

	return p.len >= len && !strncmp(p.text, prefix, len);
}

static bool ends(struct part p, const char *suffix)
{
	size_t len = strlen(suffix);

	return p.len > len && !strncmp(p.text + p.len - len, suffix, len);
}

static struct part without(struct part p, size_t head, const char *tail)
{
	size_t cut = head + (ends(p, tail) ? strlen(tail) : 0);

	return cut < p.len ? (struct part){ p.text + head, p.len - cut } : (struct part){ "", 0 };
}

static bool is_id(struct part p)
{
	for (size_t i = 0; i < p.len; i++) {
		if (!isxdigit((unsigned char)p.text[i]))
			return false;
	}
	return p.len == ID_LEN;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The name of a unit as people write it: "\x2d" is "-". */
static void unescape(struct part p, char *ret, size_t size)
{
	size_t out = 0;

	for (size_t i = 0; i < p.len && out + 1 < size; i++) {
		bool escaped = i + 3 < p.len && p.text[i] == '\\' && p.text[i + 1] == 'x' && hex_digit(p.text[i + 2]) >= 0 && hex_digit(p.text[i + 3]) >= 0;

		ret[out++] = escaped ? (char)(hex_digit(p.text[i + 2]) * 16 + hex_digit(p.text[i + 3])) : p.text[i];
		i += escaped ? 3 : 0;
	}
	ret[out] = '\0';
}

static void set_container(struct resched_owner *o, const char *engine, struct part name)
{
	char text[RESCHED_OWNER_LEN - 16];

	if (is_id(name))
		name.len = ID_SHOWN;
	unescape(name, text, sizeof(text));
	if (*text)
		snprintf(o->container, sizeof(o->container), "%s:%s", engine, text);
}

/* Scopes that an engine makes through systemd: PREFIX ID ".scope". */
static bool in_scope(struct resched_owner *o, struct part p)
{
	static const char *const engines[][2] = {
		{ "docker-", "docker" }, { "libpod-", "podman" }, { "cri-containerd-", "containerd" }, { "crio-", "cri-o" },
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		struct part id = without(p, strlen(engines[i][0]), ".scope");

		if (begins(p, engines[i][0]) && is_id(id)) {
			set_container(o, engines[i][1], id);
			return true;
		}
	}
	return false;
}

/* Machines that systemd knows, by name. */
static void in_machine(struct resched_owner *o, struct part p)
{
	if (begins(p, "machine-") && ends(p, ".scope"))
		set_container(o, "machine", without(p, strlen("machine-"), ".scope"));
	else if (begins(p, "systemd-nspawn@") && ends(p, ".service"))
		set_container(o, "nspawn", without(p, strlen("systemd-nspawn@"), ".service"));
}

/* Plain folders: an id below its engine's, or below a pod's. */
static void in_folder(struct resched_owner *o, struct part above, struct part p)
{
	static const char *const engines[][2] = { { "docker", "docker" }, { "libpod_parent", "podman" }, { "lxc", "lxc" } };

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		bool named = !strcmp(engines[i][0], "lxc");

		if (above.len == strlen(engines[i][0]) && begins(above, engines[i][0]) && (named || is_id(p)))
			set_container(o, engines[i][1], p);
	}
	if (begins(above, "pod") && is_id(p))
		set_container(o, "kubernetes", p);
	if (begins(p, "lxc.payload."))
		set_container(o, "lxc", without(p, strlen("lxc.payload."), ""));
}

static bool is_unit(struct part p)
{
	static const char *const types[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (ends(p, types[i]))
			return true;
	}
	return false;
}

void resched_owner_of(const char *cgroup, struct resched_owner *ret)
{
	struct part above = { "", 0 };

	*ret = (struct resched_owner){ "", "" };
	while (cgroup && *cgroup) {
		struct part p = { cgroup, strcspn(cgroup, "/") };

		if (p.len) {
			if (!in_scope(ret, p)) {
				in_machine(ret, p);
				in_folder(ret, above, p);
			}
			if (is_unit(p))	/* the innermost one */
				unescape(p, ret->unit, sizeof(ret->unit));
			above = p;
		}
		cgroup += p.len + (cgroup[p.len] == '/');
	}
}
