// SPDX-License-Identifier: GPL-2.0-only
/* Where a recording goes: the output that appears whole, and the spools that give their space back. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "capture/files.h"
#include "capture/output.h"
#include "capture/spool.h"

#define PAGE 4096u

static char folder[64];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/resched-files-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *in_folder(char *buf, const char *name)
{
	snprintf(buf, PATH_MAX, "%s/%s", folder, name);
	return buf;
}

static unsigned int files_in_folder(void)
{
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir = opendir(folder);

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(dir);
	return nr;
}

/* ---- output */

static void test_output_appears_at_the_end(void **state)
{
	char path[PATH_MAX], text[16];
	struct rs_output out;

	(void)state;
	assert_int_equal(rs_output_open(&out, in_folder(path, "x.dat"), NULL), 0);
	assert_int_equal(write(out.fd, "new", 3), 3);
	assert_int_equal(files_in_folder(), 0);
	assert_int_equal(rs_output_publish(&out, NULL), 0);
	rs_output_release(&out);
	assert_int_equal(files_in_folder(), 1);
	assert_int_equal(rs_file_read(path, text, sizeof(text)), 3);
	assert_string_equal(text, "new");
}

static void test_output_given_up(void **state)
{
	char path[PATH_MAX], text[16];
	struct rs_output out;
	FILE *old;

	(void)state;
	old = fopen(in_folder(path, "x.dat"), "w");
	assert_non_null(old);
	fputs("old", old);
	fclose(old);
	assert_int_equal(rs_output_open(&out, path, NULL), 0);
	assert_int_equal(write(out.fd, "new", 3), 3);
	rs_output_release(&out);	/* not published */
	assert_int_equal(files_in_folder(), 1);
	assert_int_equal(rs_file_read(path, text, sizeof(text)), 3);
	assert_string_equal(text, "old");
}

static void test_output_keeps_mode_and_link(void **state)
{
	char path[PATH_MAX], link[PATH_MAX];
	struct rs_output out;
	struct stat st;
	FILE *old;

	(void)state;
	old = fopen(in_folder(path, "real.dat"), "w");
	assert_non_null(old);
	fclose(old);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(symlink("real.dat", in_folder(link, "link.dat")), 0);
	assert_int_equal(rs_output_open(&out, link, NULL), 0);
	assert_int_equal(write(out.fd, "12345", 5), 5);
	assert_int_equal(rs_output_publish(&out, NULL), 0);
	rs_output_release(&out);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(st.st_mode & 0777, 0644);
}

static void test_output_refusals(void **state)
{
	struct resched_error err;
	struct rs_output out;
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(rs_output_open(&out, folder, &err), -EISDIR);
	assert_non_null(strstr(err.text, "directory"));
	assert_int_equal(rs_output_open(&out, "/dev/null", &err), -EINVAL);
	assert_int_equal(rs_output_open(&out, "", &err), -EISDIR);
	assert_int_equal(rs_output_open(&out, in_folder(path, "no/such/x.dat"), &err), -ENOENT);
	assert_non_null(strstr(err.text, "no/such"));
	assert_int_equal(rs_output_open(&out, in_folder(path, "new/"), &err), -EISDIR);
	rs_output_release(&out);
}

/* ---- spools */

/* A spool as after reading: one cpu with pages whose bytes tell which they are. */
static void fill_spool(struct rs_spool *spool, struct rs_spool_cpu *cpu, unsigned int pages)
{
	unsigned char page[PAGE];
	unsigned int i;

	memset(spool, 0, sizeof(*spool));
	spool->page_bytes = PAGE;
	spool->nr_cpus = 1;
	spool->cpus = cpu;
	*cpu = (struct rs_spool_cpu){ .raw_fd = -1,
				      .fd = rs_tmpfile(folder),
				      .bytes = (uint64_t)pages * PAGE };
	assert_true(cpu->fd >= 0);
	for (i = 0; i < pages; i++) {
		memset(page, (int)(i & 0xff), sizeof(page));
		memcpy(page, &i, sizeof(i));
		assert_int_equal(pwrite(cpu->fd, page, PAGE, (off_t)i * PAGE), PAGE);
	}
}

static void check_page(const unsigned char *page, unsigned int nr)
{
	unsigned int told;

	memcpy(&told, page, sizeof(told));
	assert_int_equal(told, nr);
	assert_int_equal(page[PAGE - 1], nr & 0xff);
}

static void test_move_plain(void **state)
{
	const unsigned int pages = 2500;	/* several pieces, the last one not full */
	struct rs_spool_moved moved;
	struct rs_spool_cpu cpu;
	struct rs_spool spool;
	unsigned char page[PAGE];
	unsigned int i;
	int out;

	(void)state;
	fill_spool(&spool, &cpu, pages);
	out = rs_tmpfile(folder);
	assert_int_equal(rs_spool_move(&spool, 0, out, 3 * PAGE, false, false, &moved), 0);
	assert_int_equal(moved.bytes, (uint64_t)pages * PAGE);
	assert_int_equal(moved.raw_bytes, moved.bytes);
	assert_int_equal(moved.end, 3 * PAGE + moved.bytes);
	assert_int_equal(cpu.fd, -1);
	for (i = 0; i < pages; i += 7) {
		assert_int_equal(pread(out, page, PAGE, (off_t)(i + 3) * PAGE), PAGE);
		check_page(page, i);
	}
	close(out);
}

static void test_move_packed(void **state)
{
	const unsigned int pages = 131;
	struct rs_spool_moved moved;
	struct rs_spool_cpu cpu;
	struct rs_spool spool;
	uint32_t chunks, sizes[2];
	unsigned int page = 0, i;
	uint64_t at = PAGE;
	int out;

	(void)state;
	fill_spool(&spool, &cpu, pages);
	out = rs_tmpfile(folder);
	assert_int_equal(rs_spool_move(&spool, 0, out, PAGE, true, false, &moved), 0);
	assert_int_equal(pread(out, &chunks, sizeof(chunks), (off_t)at), sizeof(chunks));
	assert_true(chunks > 1);
	at += sizeof(chunks);
	assert_int_equal(moved.end, at + moved.bytes);	/* the count is not part of the size */
	for (i = 0; i < chunks; i++) {
		unsigned char *packed, *plain;
		unsigned int k;

		assert_int_equal(pread(out, sizes, sizeof(sizes), (off_t)at), sizeof(sizes));
		at += sizeof(sizes);
		packed = malloc(sizes[0]);
		plain = malloc(sizes[1]);
		assert_non_null(packed);
		assert_non_null(plain);
		assert_int_equal(sizes[1] % PAGE, 0);
		assert_int_equal(pread(out, packed, sizes[0], (off_t)at), sizes[0]);
		assert_int_equal(ZSTD_decompress(plain, sizes[1], packed, sizes[0]), sizes[1]);
		for (k = 0; k < sizes[1] / PAGE; k++)
			check_page(plain + k * PAGE, page++);
		at += sizes[0];
		free(packed);
		free(plain);
	}
	assert_int_equal(page, pages);
	assert_int_equal(at, moved.end);
	close(out);
}

static void test_move_nothing(void **state)
{
	struct rs_spool_cpu cpu = { .raw_fd = -1, .fd = -1 };
	struct rs_spool spool = { .page_bytes = PAGE, .nr_cpus = 1, .cpus = &cpu };
	struct rs_spool_moved moved;
	int out = rs_tmpfile(folder);

	(void)state;
	assert_int_equal(rs_spool_move(&spool, 0, out, PAGE, true, true, &moved), 0);
	assert_int_equal(moved.bytes, 0);
	assert_int_equal(moved.end, PAGE);
	assert_int_equal(lseek(out, 0, SEEK_END), 0);
	close(out);
}

static void test_move_to_a_full_disk(void **state)
{
	struct rs_spool_moved moved;
	struct rs_spool_cpu cpu;
	struct rs_spool spool;
	int out = open("/dev/full", O_RDWR), i;

	(void)state;
	if (out < 0)
		skip();
	for (i = 0; i < 2; i++) {
		fill_spool(&spool, &cpu, 40);
		assert_int_equal(rs_spool_move(&spool, 0, out, 0, i == 1, true, &moved), -ENOSPC);
		assert_int_equal(moved.bytes, 0);
		assert_int_equal(moved.end, 0);
		assert_int_equal(cpu.fd, -1);
	}
	close(out);
}

static void test_release_of_nothing(void **state)
{
	struct rs_spool spool = { 0 };

	(void)state;
	rs_spool_release(&spool);	/* must not close descriptor 0 */
	assert_true(fcntl(0, F_GETFD) >= 0 || errno == EBADF);
}

/* ---- small files */

static void test_file_limits(void **state)
{
	char path[PATH_MAX], small[8], *all = NULL;
	size_t len = 0;
	FILE *file;
	int i;

	(void)state;
	file = fopen(in_folder(path, "text"), "w");
	assert_non_null(file);
	for (i = 0; i < 50000; i++)
		fputs("x", file);
	fputs("\n\n", file);
	fclose(file);
	assert_int_equal(rs_file_read(path, small, sizeof(small)), 7);
	assert_string_equal(small, "xxxxxxx");
	assert_int_equal(rs_file_read_all(path, 60000, &all, &len), 0);
	assert_int_equal(len, 50002);
	assert_int_equal(all[50002], '\0');
	free(all);
	assert_int_equal(rs_file_read_all(path, 50000, &all, &len), -EFBIG);
	assert_int_equal(rs_file_read_all("/no/such", 1, &all, &len), -ENOENT);
	assert_int_equal(rs_file_read(folder, small, sizeof(small)), -EISDIR);
	assert_int_equal(rs_file_write("/no/such", "x"), -ENOENT);
}

#define in_new_folder(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_new_folder(test_output_appears_at_the_end),
		in_new_folder(test_output_given_up),
		in_new_folder(test_output_keeps_mode_and_link),
		in_new_folder(test_output_refusals),
		in_new_folder(test_move_plain),
		in_new_folder(test_move_packed),
		in_new_folder(test_move_nothing),
		in_new_folder(test_move_to_a_full_disk),
		cmocka_unit_test(test_release_of_nothing),
		in_new_folder(test_file_limits),
	};

	return cmocka_run_group_tests_name("capture_files", tests, NULL, NULL);
}
