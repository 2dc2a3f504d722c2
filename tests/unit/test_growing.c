// SPDX-License-Identifier: GPL-2.0-only
/* Pages in the file of a recording that is being made: they can be read at every moment, and putting them into order loses none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/files.h"
#include "capture/growing.h"

#define PAGE 512u	/* small: several maps with few pages */
#define BASE (3 * PAGE)
#define CPUS 3u
#define KILLS 60u

struct page { uint64_t stamp, commit; uint32_t cpu, seq; };

struct made { struct rs_growing growing; uint64_t next[CPUS], rnd; };

static uint64_t rnd(struct made *m)
{
	m->rnd = m->rnd * 6364136223846793005ull + 1442695040888963407ull;
	return m->rnd >> 33;
}

static int new_file(void)
{
	char path[] = "/tmp/resched-growing-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void put(struct made *m, uint32_t cpu, uint32_t nr)
{
	unsigned char *bytes = calloc(nr, PAGE);
	uint32_t done;

	assert_non_null(bytes);
	for (uint32_t i = 0; i < nr; i++) {
		struct page page = { .stamp = 1000 + m->next[cpu] + i, .commit = 8, .cpu = cpu, .seq = (uint32_t)m->next[cpu] + i };

		memset(bytes + (size_t)i * PAGE, (int)(page.seq * 7 + cpu) & 0xff, PAGE);
		memcpy(bytes + (size_t)i * PAGE, &page, sizeof(page));
	}
	assert_int_equal(rs_growing_append(&m->growing, cpu, m->next[cpu], bytes, nr, &done), 0);
	assert_int_equal(done, nr);
	m->next[cpu] += nr;
	free(bytes);
}

static void check_page(const unsigned char *bytes, uint32_t cpu, uint64_t seq)
{
	struct page page;

	memcpy(&page, bytes, sizeof(page));
	assert_int_equal(page.cpu, cpu);
	assert_int_equal(page.seq, seq);
	assert_int_equal(bytes[PAGE - 1], (int)(page.seq * 7 + cpu) & 0xff);
}

static void make(struct made *m, uint64_t seed, unsigned int batches)
{
	memset(m, 0, sizeof(*m));
	m->rnd = seed;
	assert_int_equal(rs_growing_open(&m->growing, new_file(), BASE, PAGE), 0);
	for (unsigned int i = 0; i < batches; i++) {
		uint32_t cpu = (uint32_t)rnd(m) % CPUS;

		put(m, cpu, (uint32_t)rnd(m) % 20 + 1);
	}
}

static struct rs_growing_page *survey(const struct made *m, uint64_t *nr, uint64_t *missing)
{
	struct rs_input in = { .fd = m->growing.fd };
	struct rs_growing_page *pages = NULL;
	struct stat st;

	assert_int_equal(fstat(m->growing.fd, &st), 0);
	in.size = (uint64_t)st.st_size;
	*nr = 0;
	assert_int_equal(rs_growing_read(&in, BASE, PAGE, false, CPUS, &pages, nr, missing), 0);
	return pages;
}

/* Every page that was put is there once, in order, with its content. */
static void check_all(const struct made *m)
{
	unsigned char bytes[PAGE];
	uint64_t nr, missing, at = 0;
	struct rs_growing_page *pages = survey(m, &nr, &missing);

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		for (uint64_t seq = 0; seq < m->next[cpu]; seq++, at++) {
			assert_true(at < nr);
			assert_int_equal(rs_growing_cpu(&pages[at]), cpu);
			assert_int_equal(rs_growing_seq(&pages[at]), seq);
			assert_int_equal(rs_read_at(m->growing.fd, bytes, PAGE, rs_growing_offset(BASE, PAGE, pages[at].slot)), 0);
			check_page(bytes, cpu, seq);
		}
	}
	assert_int_equal(at, nr);
	free(pages);
}

/* The data of each cpu follows in one stretch, with empty pages where maps are. */
static void check_settled(const struct made *m, const struct rs_datw_cpu *cpus, uint64_t end)
{
	unsigned char bytes[PAGE];
	struct stat st;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint64_t seq = 0, stamp = 0;

		for (uint64_t at = cpus[cpu].offset; at < cpus[cpu].offset + cpus[cpu].bytes; at += PAGE) {
			struct page page;

			assert_int_equal(rs_read_at(m->growing.fd, bytes, PAGE, at), 0);
			memcpy(&page, bytes, sizeof(page));
			assert_true(page.stamp >= stamp && page.stamp);	/* maps too: readers look for a time by the stamps */
			stamp = page.stamp;
			if (page.commit)
				check_page(bytes, cpu, seq++);
		}
		assert_int_equal(seq, m->next[cpu]);
	}
	assert_int_equal(fstat(m->growing.fd, &st), 0);
	assert_int_equal(st.st_size, end);
}

static void settle(struct made *m)
{
	struct rs_datw_cpu cpus[CPUS] = { { .cpu = 0 }, { .cpu = 1 }, { .cpu = 2 } };
	uint64_t end = 0;

	assert_int_equal(rs_growing_settle(&m->growing, CPUS, cpus, NULL, &end), 0);
	check_settled(m, cpus, end);
	check_all(m);
}

static void mixed_pages_are_put_into_order(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		struct made m;

		make(&m, round, round * 5);
		check_all(&m);
		settle(&m);
		settle(&m);	/* nothing is left to do */
		close(m.growing.fd);
	}
}

/* A child is killed at a random moment of it; what is there then is all there, and the next one goes on. */
static void killed_while_putting_into_order(void **state)
{
	unsigned int cut_short = 0;

	(void)state;
	for (unsigned int round = 0; round < KILLS; round++) {
		struct made m;
		int status;
		pid_t pid;

		make(&m, 100 + round, 200);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			struct rs_datw_cpu cpus[CPUS] = { { .cpu = 0 }, { .cpu = 1 }, { .cpu = 2 } };
			uint64_t end;

			_exit(rs_growing_settle(&m.growing, CPUS, cpus, NULL, &end) ? 1 : 0);
		}
		usleep((useconds_t)(rnd(&m) % 8000));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		cut_short += WIFSIGNALED(status);
		check_all(&m);
		settle(&m);
		close(m.growing.fd);
	}
	print_message("# %u of %u were cut short\n", cut_short, KILLS);
}

static void a_page_that_never_came_ends_its_cpu(void **state)
{
	unsigned char zeros[PAGE] = { 0 };
	uint64_t nr, missing, before;
	struct rs_growing_page *pages;
	struct made m;

	(void)state;
	make(&m, 7, 40);
	pages = survey(&m, &before, &missing);
	assert_int_equal(missing, 0);
	/* as after a power cut: the map reached the disk and the page did not */
	assert_int_equal(rs_write_at(m.growing.fd, zeros, PAGE, rs_growing_offset(BASE, PAGE, pages[m.next[0] + 5].slot)), 0);
	free(pages);
	pages = survey(&m, &nr, &missing);
	assert_int_equal(nr, m.next[0] + 5 + m.next[2]);
	assert_int_equal(nr + missing, before);
	free(pages);
	m.next[1] = 5;
	settle(&m);
	close(m.growing.fd);
}

static void a_cut_file_still_tells_whose_its_pages_are(void **state)
{
	uint64_t nr, missing;
	struct rs_growing_page *pages;
	struct made m;

	(void)state;
	make(&m, 8, 100);
	settle(&m);
	assert_int_equal(ftruncate(m.growing.fd, (off_t)(rs_growing_offset(BASE, PAGE, m.next[0] + 10) + 5)), 0);
	pages = survey(&m, &nr, &missing);
	assert_int_equal(nr, m.next[0] + 10);
	assert_int_equal(rs_growing_cpu(&pages[nr - 1]), 1);
	free(pages);
	close(m.growing.fd);
}

static void the_limit_of_the_file_is_kept(void **state)
{
	unsigned char bytes[4 * PAGE] = { 1 };
	struct made m;
	uint32_t done = 1;
	struct stat st;

	(void)state;
	make(&m, 9, 10);
	assert_int_equal(fstat(m.growing.fd, &st), 0);
	m.growing.limit_bytes = (uint64_t)st.st_size + 3 * PAGE;
	assert_int_equal(rs_growing_append(&m.growing, 0, m.next[0], bytes, 4, &done), -EFBIG);
	assert_int_equal(done, 0);
	settle(&m);
	close(m.growing.fd);
}

static void what_is_no_map_is_refused(void **state)
{
	struct rs_growing_page *pages = NULL;
	uint64_t nr, missing;
	struct rs_input in = { .fd = new_file(), .size = 4096 };

	(void)state;
	assert_int_equal(ftruncate(in.fd, 4096), 0);
	assert_int_equal(rs_growing_read(&in, 0, PAGE, false, CPUS, &pages, &nr, &missing), -EBADMSG);
	assert_int_equal(rs_growing_read(&in, 8192, PAGE, false, CPUS, &pages, &nr, &missing), -EBADMSG);
	assert_int_equal(rs_growing_read(&in, 0, 16, false, CPUS, &pages, &nr, &missing), -EBADMSG);
	assert_null(pages);
	close(in.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mixed_pages_are_put_into_order),
		cmocka_unit_test(killed_while_putting_into_order),
		cmocka_unit_test(a_page_that_never_came_ends_its_cpu),
		cmocka_unit_test(a_cut_file_still_tells_whose_its_pages_are),
		cmocka_unit_test(the_limit_of_the_file_is_kept),
		cmocka_unit_test(what_is_no_map_is_refused),
	};

	return cmocka_run_group_tests_name("growing", tests, NULL, NULL);
}
