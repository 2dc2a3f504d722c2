// SPDX-License-Identifier: GPL-2.0-only
/* The host snapshot: JSON from inside of a recording or from --host. What was understood must come out as it went in. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <resched/host.h>

static void again(const struct resched_host *host)
{
	struct resched_host *second = NULL;
	struct resched_error err = { 0 };
	char *one = NULL, *two = NULL;

	if (resched_host_json(host, &one, &err) < 0)
		return;
	if (resched_host_parse(one, strlen(one), &second, &err) == 0) {
		if (resched_host_json(second, &two, &err) == 0 && strcmp(one, two) != 0)
			abort();
	}
	resched_host_free(second);
	free(one);
	free(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };

	if (resched_host_parse((const char *)data, size, &host, &err) == 0)
		again(host);
	else if (!*err.text)
		abort();
	resched_host_free(host);
	return 0;
}
