// SPDX-License-Identifier: GPL-2.0-only
/* The writer of trace.dat: what every reader relies on, checked on the bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "capture/dat_writer.h"

#define PAGE 4096u

struct image { unsigned char *data; size_t len; };

static uint16_t u16_at(const struct image *image, size_t at)
{
	uint16_t value;

	assert_true(at + sizeof(value) <= image->len);
	memcpy(&value, image->data + at, sizeof(value));
	return value;
}

static uint32_t u32_at(const struct image *image, size_t at)
{
	uint32_t value;

	assert_true(at + sizeof(value) <= image->len);
	memcpy(&value, image->data + at, sizeof(value));
	return value;
}

static uint64_t u64_at(const struct image *image, size_t at)
{
	uint64_t value;

	assert_true(at + sizeof(value) <= image->len);
	memcpy(&value, image->data + at, sizeof(value));
	return value;
}

static int new_file(void)
{
	char path[] = "/tmp/resched-dat-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static struct image load(int fd)
{
	struct image image = { .len = (size_t)lseek(fd, 0, SEEK_END) };

	image.data = malloc(image.len + 1);
	assert_non_null(image.data);
	assert_int_equal(pread(fd, image.data, image.len, 0), (ssize_t)image.len);
	return image;
}

/* Where the offset of the first options section stands, behind the header's texts. */
static size_t first_link(const struct image *image)
{
	size_t at = 12 + 2 + 4;		/* magic and version, byte order and long, page size */

	at += strlen((char *)image->data + at) + 1;
	at += strlen((char *)image->data + at) + 1;
	return at;
}

/* Offset of the data of option @id in the chain of options sections; 0 = not there. *@ret_len is
 * its length. */
static size_t find_option(const struct image *image, uint16_t id, size_t *ret_len)
{
	size_t section = (size_t)u64_at(image, first_link(image));

	while (section) {
		size_t at = section + 16;

		assert_int_equal(u16_at(image, section), RS_DATW_OPTIONS);
		for (;;) {
			uint16_t found = u16_at(image, at);
			uint32_t len = u32_at(image, at + 2);

			if (found == RS_DATW_OPT_DONE) {
				assert_int_equal(len, 8);
				section = (size_t)u64_at(image, at + 6);
				break;
			}
			if (found == id) {
				*ret_len = len;
				return at + 6;
			}
			at += 6 + len;
		}
	}
	return 0;
}

static void test_header_and_chain(void **state)
{
	struct rs_datw_buf one = { 0 }, two = { 0 };
	struct rs_dat_writer w;
	struct image image;
	size_t len = 0, at;
	int fd = new_file();

	(void)state;
	assert_int_equal(rs_datw_start(&w, fd, "x", PAGE, false, NULL), 0);
	rs_datw_option(&one, RS_DATW_OPT_TRACECLOCK, "mono", 5);
	rs_datw_option(&one, RS_DATW_OPT_SNAPSHOT, "{\"a\":1}", 7);
	assert_int_equal(rs_datw_options(&w, &one, NULL), 0);
	image = load(fd);
	assert_memory_equal(image.data, "\x17\x08\x44tracing7\0", 12);
	assert_int_equal(image.data[13], sizeof(long));
	assert_int_equal(u32_at(&image, 14), PAGE);
	assert_string_equal((char *)image.data + 18, "none");
	/* whole already: a reader that opens it now finds what is linked, and the end */
	at = find_option(&image, RS_DATW_OPT_SNAPSHOT, &len);
	assert_true(at != 0);
	assert_int_equal(len, 7);
	assert_memory_equal(image.data + at, "{\"a\":1}", 7);
	assert_int_equal(find_option(&image, RS_DATW_OPT_CPUSTAT, &len), 0);
	free(image.data);

	rs_datw_option(&two, RS_DATW_OPT_CPUSTAT, "CPU: 0\n", 8);
	assert_int_equal(rs_datw_options(&w, &two, NULL), 0);
	image = load(fd);
	assert_true(find_option(&image, RS_DATW_OPT_CPUSTAT, &len) >
		    find_option(&image, RS_DATW_OPT_TRACECLOCK, &len));
	free(image.data);
	rs_datw_buf_release(&one);
	rs_datw_buf_release(&two);
	close(fd);
}

/* Readers walk from section to section to find the strings: there may be no gap, and the last one
 * ends with the file. */
static void walk(const struct image *image, bool compressed)
{
	size_t at = first_link(image) + 8, strings = 0, names_len = 0;

	while (at < image->len) {
		uint16_t id = u16_at(image, at), flags = u16_at(image, at + 2);
		uint64_t bytes = u64_at(image, at + 8);

		assert_true(id == RS_DATW_OPTIONS || id == RS_DATW_BUFFER ||
			    (id >= RS_DATW_STRINGS && id <= RS_DATW_CMDLINES));
		assert_int_equal(flags, compressed && id != RS_DATW_OPTIONS);
		if (id == RS_DATW_STRINGS) {
			strings = at;
			names_len = (size_t)bytes;
		}
		at += 16 + (size_t)bytes;
	}
	assert_int_equal(at, image->len);
	assert_true(strings != 0 && names_len != 0);
}

static void write_all_kinds(struct rs_dat_writer *w, int fd, bool compress)
{
	struct rs_datw_buf body = { 0 }, options = { 0 };
	struct rs_datw_cpu cpus[2] = { { .cpu = 0 }, { .cpu = 1 } };
	uint64_t at = 0;
	unsigned int i;
	char page[PAGE];

	memset(page, 0x5a, sizeof(page));
	assert_int_equal(rs_datw_start(w, fd, "x", PAGE, compress, NULL), 0);
	for (i = 0; i < 1000; i++)
		rs_datw_put_text(&body, "format");
	assert_int_equal(rs_datw_section(w, RS_DATW_EVENT_FORMATS, &body, &at, NULL), 0);
	rs_datw_option_u64(&options, RS_DATW_EVENT_FORMATS, at);
	assert_int_equal(rs_datw_buffer_begin(w, NULL), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(w->pos % PAGE, 0);
		cpus[i].offset = w->pos;
		cpus[i].bytes = i * PAGE; /* the first cpu is empty */
		assert_int_equal(pwrite(fd, page, cpus[i].bytes, (off_t)w->pos),
				 (ssize_t)cpus[i].bytes);
		w->pos += cpus[i].bytes;
	}
	assert_int_equal(rs_datw_buffer_end(w, &at, NULL), 0);
	rs_datw_option_buffer(&options, w, at, "mono", 2, cpus);
	assert_int_equal(rs_datw_options(w, &options, NULL), 0);
	rs_datw_buf_release(&body);
	rs_datw_buf_release(&options);
}

static void check_buffer_option(const struct image *image)
{
	size_t len = 0, at = find_option(image, RS_DATW_OPT_BUFFER, &len);
	size_t section;

	assert_true(at != 0);
	section = (size_t)u64_at(image, at);
	assert_int_equal(u16_at(image, section), RS_DATW_BUFFER);
	assert_string_equal((char *)image->data + at + 8, "");		/* the top instance */
	assert_string_equal((char *)image->data + at + 9, "mono");
	assert_int_equal(u32_at(image, at + 14), PAGE);
	assert_int_equal(u32_at(image, at + 18), 2);
	assert_int_equal(u32_at(image, at + 22 + 20), 1);		/* the second cpu */
	assert_int_equal(u64_at(image, at + 22 + 24) % PAGE, 0);
	assert_int_equal(u64_at(image, at + 22 + 32), PAGE);
	assert_int_equal(image->data[u64_at(image, at + 22 + 24)], 0x5a);
	assert_int_equal(len, 22 + 2 * 20);
}

static void test_sections_without_gaps(void **state)
{
	struct rs_dat_writer w;
	struct image image;
	int fd = new_file();

	(void)state;
	write_all_kinds(&w, fd, false);
	image = load(fd);
	walk(&image, false);
	check_buffer_option(&image);
	free(image.data);
	close(fd);
}

static void test_compressed_sections(void **state)
{
	char plain[8000];
	struct rs_dat_writer w;
	struct image image;
	size_t len = 0, section;
	int fd = new_file();

	(void)state;
	write_all_kinds(&w, fd, true);
	image = load(fd);
	walk(&image, true);
	check_buffer_option(&image);
	assert_string_equal((char *)image.data + 18, "zstd");
	section = (size_t)u64_at(&image, find_option(&image, RS_DATW_EVENT_FORMATS, &len));
	assert_int_equal(u32_at(&image, section + 20), 7000);
	assert_int_equal(ZSTD_decompress(plain, sizeof(plain), image.data + section + 24,
					 u32_at(&image, section + 16)),
			 7000);
	assert_memory_equal(plain, "format\0format", 13);
	free(image.data);
	close(fd);
}

static void test_full_disk_is_told(void **state)
{
	struct resched_error err = { 0 };
	struct rs_dat_writer w;
	int fd = open("/dev/full", O_RDWR);

	(void)state;
	if (fd < 0)
		skip();
	/* /dev/full takes any offset and refuses every byte */
	assert_int_equal(rs_datw_start(&w, fd, "some.dat", PAGE, false, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "some.dat"));
	assert_non_null(strstr(err.text, "no space left"));
	close(fd);
}

static void test_buffer_grows(void **state)
{
	struct rs_datw_buf buf = { 0 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 100000; i++)
		rs_datw_put_u32(&buf, i);
	assert_false(buf.failed);
	assert_int_equal(buf.len, 400000);
	for (i = 0; i < 100000; i += 777) {
		uint32_t value;

		memcpy(&value, buf.data + 4 * (size_t)i, sizeof(value));
		assert_int_equal(value, i);
	}
	rs_datw_buf_release(&buf);
	assert_null(buf.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_and_chain),
		cmocka_unit_test(test_sections_without_gaps),
		cmocka_unit_test(test_compressed_sections),
		cmocka_unit_test(test_full_disk_is_told),
		cmocka_unit_test(test_buffer_grows),
	};

	return cmocka_run_group_tests_name("capture_dat", tests, NULL, NULL);
}
