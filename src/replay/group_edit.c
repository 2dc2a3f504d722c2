// SPDX-License-Identifier: GPL-2.0-only
/* "--cgroup PATH:weight=N,max=QUOTA[/PERIOD]": which group, and what becomes of it. */
#include "replay/groups.h"

#include "base/error.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EDIT_FORM "use PATH:KEY=VALUE[,...] with weight=1..10000, or max=QUOTA[/PERIOD] such as 20ms/100ms, 50%% or max"
#define DEFAULT_PERIOD_US 100000u
#define MIN_QUOTA_US 1000u		/* min_cfs_quota_period */
#define MIN_PERIOD_US 1000u
#define MAX_PERIOD_US 1000000u
#define MAX_QUOTA_US (UINT64_C(1) << 44)

static int bad_value(struct resched_error *err, const char *key, const char *value, const char *mend)
{
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "bad value '%.60s' for %s in --cgroup: %s", value, key, mend);
}

static int set_weight(struct rs_group_edit *edit, const char *value, struct resched_error *err)
{
	if (rs_uint_parse(value, &edit->weight) < 0 || edit->weight < 1 || edit->weight > 10000)
		return bad_value(err, "weight", value, "give 1 to 10000; 100 is the kernel's default");
	edit->weight_set = true;
	return 0;
}

/* As in the file cpu.max a plain number is in microseconds. A percentage is of one cpu. */
static int parse_us(const char *text, uint64_t *ret)
{
	uint64_t ns;

	if (rs_time_parse(text, 1000, &ns) < 0 || ns % 1000)
		return -EINVAL;
	*ret = ns / 1000;
	return 0;
}

static int parse_quota(const char *text, uint64_t period_us, uint64_t *ret)
{
	size_t len = strlen(text);
	char number[24];
	uint64_t pct;

	if (!len || text[len - 1] != '%')
		return parse_us(text, ret);
	if (len > sizeof(number))
		return -EINVAL;
	memcpy(number, text, len - 1);
	number[len - 1] = '\0';
	if (rs_uint_parse(number, &pct) < 0 || pct > 10000000)
		return -EINVAL;
	*ret = period_us * pct / 100;
	return 0;
}

static int set_max(struct rs_group_edit *edit, const char *value, struct resched_error *err)
{
	static const char mend[] = "give max, or 1ms or more and after a slash a period of 1ms to 1s: 20ms/100ms, 50%";
	const char *slash = strchr(value, '/');
	char quota[32];

	edit->period_us = DEFAULT_PERIOD_US;
	if (slash && (parse_us(slash + 1, &edit->period_us) < 0 || edit->period_us < MIN_PERIOD_US || edit->period_us > MAX_PERIOD_US))
		return bad_value(err, "max", value, mend);
	if ((slash ? (size_t)(slash - value) : strlen(value)) >= sizeof(quota))
		return bad_value(err, "max", value, mend);
	memcpy(quota, value, slash ? (size_t)(slash - value) : strlen(value) + 1);
	if (slash)
		quota[slash - value] = '\0';
	edit->max_set = true;
	edit->quota_us = 0;
	if (!strcmp(quota, "max"))
		return 0;
	if (parse_quota(quota, edit->period_us, &edit->quota_us) < 0 || edit->quota_us < MIN_QUOTA_US || edit->quota_us > MAX_QUOTA_US)
		return bad_value(err, "max", value, mend);
	return 0;
}

static int apply(struct rs_group_edit *edit, char *change, struct resched_error *err)
{
	char *value = strchr(change, '=');

	if (value)
		*value++ = '\0';
	if (value && !strcmp(change, "weight"))
		return set_weight(edit, value, err);
	if (value && !strcmp(change, "max"))
		return set_max(edit, value, err);
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "unknown change '%.60s' in --cgroup: " EDIT_FORM, change);
}

int rs_group_edit_parse(const char *text, struct rs_group_edit *ret, struct resched_error *err)
{
	size_t before_value = strcspn(text, "=");
	const char *colon = memrchr(text, ':', before_value);	/* a path may hold colons */
	char *changes, *save = NULL;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (!colon || text[0] != '/' || !colon[1])
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "cannot read --cgroup '%.100s': " EDIT_FORM, text);
	if (colon - text == 1)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "--cgroup '%.100s': the root group has no weight and no limit", text);
	ret->path = strndup(text, (size_t)(colon - text));
	changes = strdup(colon + 1);
	if (!ret->path || !changes)
		rc = rs_error_nomem(err);
	for (char *change = rc < 0 ? NULL : strtok_r(changes, ",", &save); change && rc == 0; change = strtok_r(NULL, ",", &save))
		rc = apply(ret, change, err);
	free(changes);
	if (rc < 0)
		rs_group_edit_release(ret);
	return rc;
}

void rs_group_edit_release(struct rs_group_edit *edit)
{
	free(edit->path);
	memset(edit, 0, sizeof(*edit));
}
