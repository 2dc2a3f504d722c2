// SPDX-License-Identifier: GPL-2.0-only
/*
 * LD_PRELOAD: memory that runs out. FAILALLOC_AT=N: the Nth allocation fails, and with FAILALLOC_ALL=1 all after it, too. With
 * FAILALLOC_COUNT=FILE the number of allocations is written there at the end. Those of libtraceevent do not fail: it checks few of them,
 * which is why room for them is made sure of before it is called; json-c's neither. With FAILALLOC_TELL the places are told.
 */
#include <dlfcn.h>
#include <link.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 48

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);

static const char *const spared[] = { "libtraceevent", "libjson-c" };
#define NR_SPARED (sizeof(spared) / sizeof(spared[0]))

static struct { uintptr_t from, to; } ranges[NR_SPARED];
static atomic_long count;
static long at;
static int all, ready;
static __thread int looking;

static int note_range(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size, (void)ctx;
	for (size_t k = 0; k < NR_SPARED; k++) {
		if (!strstr(info->dlpi_name, spared[k]))
			continue;
		for (int i = 0; i < info->dlpi_phnum; i++) {
			const ElfW(Phdr) *p = &info->dlpi_phdr[i];

			if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
				continue;
			ranges[k].from = info->dlpi_addr + p->p_vaddr;
			ranges[k].to = ranges[k].from + p->p_memsz;
		}
	}
	return 0;
}

static int is_spared(const void *at)
{
	for (size_t k = 0; k < NR_SPARED; k++) {
		if ((uintptr_t)at >= ranges[k].from && (uintptr_t)at < ranges[k].to)
			return 1;
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAILALLOC_AT");
	void *frame[1];

	backtrace(frame, 1);	/* loads what it needs */
	dl_iterate_phdr(note_range, NULL);
	at = text ? strtol(text, NULL, 10) : 0;
	all = getenv("FAILALLOC_ALL") != NULL;
	atomic_store(&count, 0);	/* what the loader took is none of ours */
	ready = 1;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAILALLOC_COUNT");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	fprintf(out, "%ld\n", atomic_load(&count));
	fclose(out);
}

/* Through a function of the C library, such as strdup. */
static int is_spared_below(void)
{
	void *frames[FRAMES];
	int nr, found = 0;

	looking = 1;
	nr = backtrace(frames, FRAMES);
	for (int i = 0; i < nr && !found; i++)
		found = is_spared(frames[i]);
	looking = 0;
	return found;
}

static void tell(void)
{
	void *frames[FRAMES];

	looking = 1;
	backtrace_symbols_fd(frames, backtrace(frames, FRAMES), 2);
	looking = 0;
}

static int fails(const void *caller)
{
	long n;

	if (!ready || looking || is_spared(caller))
		return 0;
	n = atomic_fetch_add(&count, 1) + 1;
	if (!at || (all ? n < at : n != at) || is_spared_below())
		return 0;
	if (getenv("FAILALLOC_TELL"))
		tell();
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
