// SPDX-License-Identifier: GPL-2.0-only
#include "capture/trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "capture/files.h"

#define PSI_MIN_NS	500000000ull	/* of a window. Kernel: kernel/sched/psi.c, WINDOW_MIN_US, WINDOW_MAX_US */
#define PSI_WINDOW_NS	2000000000ull	/* what needs no privilege */
#define PSI_MAX_NS	10000000000ull

static const char *const names[RS_RULE_NR] = { "run_delay", "wakeup_latency", "preempted_wait", "exec", "psi_cpu" };

const char *rs_rule_name(enum rs_rule_what what)
{
	return names[what];
}

static int bad(const char *text, struct resched_error *err)
{
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "trigger '%s' cannot be read; write 'run_delay comm=nginx* > 5ms', with wakeup_latency or "
			    "preempted_wait in place of run_delay and cgroup=GLOB or pid=N beside or in place of comm; 'exec comm=GLOB'; or "
			    "'psi_cpu > 150ms/2s'", text);
}

/* The word before the threshold, or a selection. */
static int parse_word(struct rs_rule *rule, char *word, bool first)
{
	char *end;
	long pid;

	for (int i = 0; first && i < RS_RULE_NR; i++) {
		if (!strcmp(word, names[i])) {
			rule->what = (enum rs_rule_what)i;
			return 0;
		}
	}
	if (first)
		return -EINVAL;
	if (!strncmp(word, "comm=", 5) && word[5]) {
		rule->comm = word + 5;
	} else if (!strncmp(word, "cgroup=", 7) && word[7]) {
		rule->cgroup = word + 7;
	} else if (!strncmp(word, "pid=", 4)) {
		pid = strtol(word + 4, &end, 10);
		if (!word[4] || *end || pid <= 0 || pid > INT_MAX)
			return -EINVAL;
		rule->pid = (int)pid;
	} else {
		return -EINVAL;
	}
	return 0;
}

/* "5ms"; of pressure "150ms/1s". */
static int parse_threshold(struct rs_rule *rule, char *text)
{
	char *slash = strchr(text, '/');

	rule->window_ns = PSI_WINDOW_NS;
	if (slash) {
		*slash = '\0';
		if (rule->what != RS_RULE_PSI_CPU || rs_time_parse(slash + 1, 0, &rule->window_ns) < 0)
			return -EINVAL;
	}
	if (rs_time_parse(text, 0, &rule->over_ns) < 0 || !rule->over_ns)
		return -EINVAL;
	if (rule->what != RS_RULE_PSI_CPU)
		return 0;
	return rule->window_ns < PSI_MIN_NS || rule->window_ns > PSI_MAX_NS || rule->over_ns > rule->window_ns ? -EINVAL : 0;
}

static int parse_words(struct rs_rule *rule)
{
	char *over = strchr(rule->words, '>'), *save = NULL, *word;
	bool first = true;

	if (over)
		*over++ = '\0';
	for (word = strtok_r(rule->words, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (parse_word(rule, word, first) < 0)
			return -EINVAL;
		first = false;
	}
	if (first || !over != (rule->what == RS_RULE_EXEC))
		return -EINVAL;
	if (rule->what == RS_RULE_PSI_CPU && (rule->comm || rule->cgroup || rule->pid))
		return -EINVAL;
	if (!over)
		return rule->comm || rule->cgroup || rule->pid ? 0 : -EINVAL;
	word = strtok_r(over, " \t", &save);
	return word && !strtok_r(NULL, " \t", &save) ? parse_threshold(rule, word) : -EINVAL;
}

int rs_rule_parse(struct rs_rule *ret, const char *text, struct resched_error *err)
{
	*ret = (struct rs_rule){ .psi_fd = -1, .words = strdup(text) };
	if (!ret->words)
		return rs_error_nomem(err);
	if (parse_words(ret) < 0)
		return bad(text, err);
	if (ret->what != RS_RULE_PSI_CPU)
		return 0;
	ret->psi_fd = resched_psi_open(RESCHED_PSI_CPU, NULL, ret->over_ns, ret->window_ns, err);
	return ret->psi_fd < 0 ? ret->psi_fd : 0;
}

/* The path of the unified hierarchy: the line "0::/path". */
static bool in_cgroup(int pid, const char *glob)
{
	char path[64], text[8192], *line, *end;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (rs_file_read(path, text, sizeof(text)) <= 0)
		return false;
	line = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!line)
		return false;
	line += *line == '\n' ? 4 : 3;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	return fnmatch(glob, line, 0) == 0;
}

bool rs_rule_is_about(const struct rs_rule *rule, int pid, const char *comm)
{
	if (rule->pid && rule->pid != pid)
		return false;
	if (rule->comm && fnmatch(rule->comm, comm, 0) != 0)
		return false;
	return !rule->cgroup || in_cgroup(pid, rule->cgroup);
}

void rs_rule_release(struct rs_rule *rule)
{
	if (rule->psi_fd >= 0)
		close(rule->psi_fd);
	free(rule->words);
	*rule = (struct rs_rule){ .psi_fd = -1 };
}
