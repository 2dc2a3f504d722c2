// SPDX-License-Identifier: GPL-2.0-only
/* The host snapshot: there and back, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <resched/host.h>

#include "trace/host_json.h"

static const char full[] =
	"{\"schema\":\"resched/host/1\",\"kernel\":\"6.12.1\",\"machine\":\"x86_64\",\"version\":\"#1 SMP\",\"hz\":250,\"preempt\":\"full\","
	"\"autogroup\":1,\"clock\":\"mono\",\"taken_ns\":18446744073709551,"
	"\"cpus\":[{\"cpu\":0,\"online\":1,\"isolated\":0,\"core\":0,\"cluster\":-1,\"llc\":0,\"die\":0,\"package\":0,\"node\":0,\"capacity\":1024},"
	"{\"cpu\":2,\"online\":0,\"isolated\":1,\"core\":1,\"cluster\":-1,\"llc\":0,\"die\":0,\"package\":0,\"node\":1,\"capacity\":512}],"
	"\"nodes\":[{\"node\":0,\"distances\":[10,20]},{\"node\":1,\"distances\":[20,10]}],"
	"\"features\":[\"RUN_TO_PARITY\",\"NO_HRTICK\"],\"tunables\":{\"base_slice_ns\":\"2800000\"},"
	"\"tasks\":[{\"pid\":1,\"tgid\":1,\"comm\":\"init\",\"state\":\"S\",\"policy\":0,\"nice\":-5,\"rt_priority\":0,\"slice_ns\":3000000,"
	"\"autogroup\":7,\"autogroup_nice\":2,\"kthread\":0,\"affinity\":\"0-1\",\"cgroup\":\"/a\"},"
	"{\"pid\":9,\"tgid\":9,\"comm\":\"k\\\"w\",\"state\":\"I\",\"policy\":1,\"nice\":0,\"rt_priority\":99,\"slice_ns\":0,"
	"\"autogroup\":-1,\"autogroup_nice\":0,\"kthread\":1}],"
	"\"cgroups\":[{\"path\":\"/a\",\"weight\":300,\"quota_us\":20000,\"period_us\":100000,\"cpuset\":\"0\"}],"
	"\"changes\":[{\"after_ns\":5,\"until_ns\":9,\"pid\":1,\"what\":\"nice\",\"from\":\"0\",\"to\":\"7\"},"
	"{\"after_ns\":5,\"until_ns\":9,\"what\":\"cpu 2\",\"to\":\"online\"}],"
	"\"unknown\":{\"llc\":\"no sysfs\"}}";

static struct resched_host *parse(const char *text)
{
	struct resched_error err = { 0 };
	struct resched_host *host = NULL;

	if (resched_host_parse(text, strlen(text), &host, &err) < 0)
		fail_msg("%s", err.text);
	return host;
}

static void there_and_back(void **state)
{
	struct resched_host *host = parse(full);
	char *json;

	(void)state;
	assert_int_equal(resched_host_json(host, &json, NULL), 0);
	assert_string_equal(json, full);
	free(json);
	assert_string_equal(resched_host_tunable(host, "base_slice_ns"), "2800000");
	assert_null(resched_host_tunable(host, "latency_ns"));
	assert_null(resched_host_tunable(NULL, "latency_ns"));
	assert_int_equal(resched_host_task(host, 9)->rt_priority, 99);
	assert_string_equal(resched_host_task(host, 9)->comm, "k\"w");
	assert_null(resched_host_task(host, 5));
	assert_int_equal(host->cpus[1].cpu, 2);
	assert_int_equal(host->cpus[1].capacity, 512);
	resched_host_free(host);
}

static void missing_is_unknown(void **state)
{
	struct resched_host *host = parse("{\"schema\":\"resched/host/1\",\"cpus\":[{\"cpu\":3}],\"tasks\":[{\"pid\":5},{\"pid\":2}],\"later\":{\"x\":[]},"
					  "\"kernel\":null} \n");

	(void)state;
	assert_null(host->kernel);
	assert_int_equal(host->hz, 0);
	assert_int_equal(host->autogroup, -1);
	assert_int_equal(host->cpus[0].llc, -1);
	assert_int_equal(host->cpus[0].online, 1);
	assert_int_equal(host->cpus[0].capacity, 1024);
	assert_int_equal(host->tasks[0].pid, 2);	/* sorted */
	assert_int_equal(host->tasks[0].autogroup, -1);
	assert_null(host->tasks[0].affinity);
	resched_host_free(host);
}

static void refused(void **state)
{
	static const struct { const char *text, *says; } rows[] = {
		{ "", "" }, { "{", "ends early" }, { "[]", "no JSON object" }, { "{}", "schema is missing" },
		{ "{\"schema\":\"resched/host/2\"}", "schema is not one" },
		{ "{\"schema\":\"resched/host/1\"} x", "no JSON object" },
		{ "{\"schema\":\"resched/host/1\",\"hz\":\"250\"}", "hz must be a whole number" },
		{ "{\"schema\":\"resched/host/1\",\"hz\":2.5}", "hz must be a whole number" },
		{ "{\"schema\":\"resched/host/1\",\"hz\":-1}", "hz is out of range" },
		{ "{\"schema\":\"resched/host/1\",\"kernel\":6}", "kernel must be a text" },
		{ "{\"schema\":\"resched/host/1\",\"kernel\":\"a\\u0000b\"}", "kernel holds a NUL" },
		{ "{\"schema\":\"resched/host/1\",\"cpus\":{}}", "cpus must be a list" },
		{ "{\"schema\":\"resched/host/1\",\"cpus\":[7]}", "must be an object" },
		{ "{\"schema\":\"resched/host/1\",\"cpus\":[{\"cpu\":1},{\"cpu\":1}]}", "cpus[1].cpu is not in ascending order" },
		{ "{\"schema\":\"resched/host/1\",\"tasks\":[{\"comm\":\"x\"}]}", "tasks[0].pid is missing" },
		{ "{\"schema\":\"resched/host/1\",\"tasks\":[{\"pid\":1,\"nice\":20}]}", "tasks[0].nice is out of range" },
		{ "{\"schema\":\"resched/host/1\",\"tasks\":[{\"pid\":1,\"comm\":\"0123456789abcdef\"}]}", "longer than 15" },
		{ "{\"schema\":\"resched/host/1\",\"tasks\":[{\"pid\":1},{\"pid\":1}]}", "one pid twice" },
		{ "{\"schema\":\"resched/host/1\",\"taken_ns\":-5}", "taken_ns is out of range" },
		{ "{\"schema\":\"resched/host/1\",\"features\":[1]}", "features must hold texts" },
		{ "{\"schema\":\"resched/host/1\",\"tunables\":{\"a\":[]}}", "tunables must hold texts" },
		{ "{\"schema\":\"resched/host/1\",\"nodes\":[{\"node\":0,\"distances\":[-1]}]}", "distances must hold" },
		{ "{\"schema\":\"resched/host/1\",\"recorder_pids\":[0]}", "recorder_pids must hold pids" },
		{ "{\"schema\":\"resched/host/1\",\"cgroups\":[{\"weight\":1}]}", "path is missing" },
		{ "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}", "no JSON object" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct resched_error err = { 0 };
		struct resched_host *host = NULL;

		assert_int_equal(resched_host_parse(rows[i].text, strlen(rows[i].text), &host, &err), -EBADMSG);
		assert_null(host);
		assert_int_equal(err.kind, RESCHED_DAMAGED);
		if (!strstr(err.text, rows[i].says))
			fail_msg("'%s' gives '%s', not '%s'", rows[i].text, err.text, rows[i].says);
	}
}

/* Every beginning of a snapshot is refused, and every wrong byte is either refused or read. */
static void cut_and_changed(void **state)
{
	char text[sizeof(full)];

	(void)state;
	for (size_t len = 0; len < sizeof(full) - 1; len++) {
		struct resched_host *host = NULL;

		assert_int_equal(resched_host_parse(full, len, &host, NULL), -EBADMSG);
	}
	for (size_t i = 0; i < sizeof(full) - 1; i++) {
		struct resched_host *host = NULL;

		memcpy(text, full, sizeof(full));
		text[i] ^= 0x11;
		if (resched_host_parse(text, sizeof(full) - 1, &host, NULL) == 0)
			resched_host_free(host);
	}
}

static void names_that_are_no_utf8(void **state)
{
	struct resched_host *host = parse("{\"schema\":\"resched/host/1\",\"tasks\":[{\"pid\":1,\"comm\":\"ok\"}]}");
	char *json;

	(void)state;
	memcpy(host->tasks[0].comm, "a\xff\xc3\xa4", 5);
	assert_int_equal(resched_host_json(host, &json, NULL), 0);
	assert_non_null(strstr(json, "\"comm\":\"a?\xc3\xa4\""));
	free(json);
	resched_host_free(host);
}

static void recorder_pids(void **state)
{
	static const char text[] = "{\"schema\":\"resched/host/1\",\"recorder_pids\":[12,34]}";
	struct resched_host *host;
	unsigned int nr;
	int *pids;

	(void)state;
	assert_int_equal(rs_host_parse_pids(text, sizeof(text) - 1, &host, &pids, &nr, NULL), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(pids[1], 34);
	free(pids);
	resched_host_free(host);
}

static void from_a_file(void **state)
{
	char path[] = "/tmp/resched-host-XXXXXX";
	struct resched_error err = { 0 };
	struct resched_host *host = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, full, sizeof(full) - 1), sizeof(full) - 1);
	assert_int_equal(resched_host_load(path, &host, NULL), 0);
	resched_host_free(host);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(resched_host_load(path, &host, &err), -EBADMSG);
	assert_non_null(strstr(err.text, path));
	close(fd);
	unlink(path);
	assert_int_equal(resched_host_load(path, &host, &err), -ENOENT);
	assert_int_equal(resched_host_load("/", &host, &err), -EINVAL);
	resched_host_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back), cmocka_unit_test(missing_is_unknown), cmocka_unit_test(refused),
		cmocka_unit_test(cut_and_changed), cmocka_unit_test(names_that_are_no_utf8), cmocka_unit_test(recorder_pids),
		cmocka_unit_test(from_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
