// SPDX-License-Identifier: GPL-2.0-only
/* TARGET FILE...: give each file to the target, without a fuzzer. Says which file it is at, so that a crash has a name. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static int one(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	size_t size;
	long len;

	if (!f || fseek(f, 0, SEEK_END) < 0 || (len = ftell(f)) < 0) {
		perror(path);
		return 1;
	}
	rewind(f);
	data = malloc((size_t)len + 1);
	size = data ? fread(data, 1, (size_t)len, f) : 0;
	fclose(f);
	printf("%s\n", path);
	fflush(stdout);
	if (data)
		LLVMFuzzerTestOneInput(data, size);
	free(data);
	return !data;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= one(argv[i]);
	return failed;
}
