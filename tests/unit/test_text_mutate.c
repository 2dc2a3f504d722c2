// SPDX-License-Identifier: GPL-2.0-only
/* Texts damaged at random: read without a crash, a hang or disorder. RESCHED_MUTATIONS sets how many variants there are. */
#include "trace_files.h"

#include <time.h>
#include <zlib.h>

#define VARIANTS 5000u

static const char *const seeds[] = {
	"# tracer: nop\n#\n# entries-in-buffer/entries-written: 336/336   #P:4\n#\n#                              _-----=> irqs-off\n"
	"#                             / _----=> need-resched\n#                            | / _---=> hardirq/softirq\n"
	"          <idle>-0     [002] d..2 21926.770185: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=Audio next_pid=32308 next_prio=120\n"
	"     threaded-ml-32307 [001] d..3 21926.770224: sched_waking: comm=Audio pid=32308 prio=120 target_cpu=002\n"
	"CPU:2 [LOST 123 EVENTS]\n"
	"           Audio-32308 [002] d..2 21926.770213: sched_stat_runtime: comm=Audio pid=32308 runtime=100814 [ns] vruntime=1115808415504 [ns]\n"
	"           Audio-32308 [002] d..2 21926.770225: sched_switch: prev_comm=Audio prev_pid=32308 prev_prio=120 prev_state=D|K ==> next_comm=tmux: server next_pid=7 next_prio=120\n"
	"  sh-5 (    5) [000] .... 21926.770300: sched_process_fork: comm=sh pid=5 child_comm=sh child_pid=6\n"
	"  sh-6 (-----) [000] .... 21926.770301: sched_process_exec: filename=/usr/bin/true pid=6 old_pid=6\n"
	"  sh-6 (-----) [000] .... 21926.770302: sched_process_exit: comm=true pid=6 prio=120\n"
	"  sh-6 (-----) [003] .... 21926.770303: sched_migrate_task: comm=true pid=6 prio=120 orig_cpu=0 dest_cpu=3\n"
	"  sh-6 (-----) [003] .... 21926.770304: sched_pi_setprio: comm=true pid=6 oldprio=120 newprio=10\n"
	"  sh-6 (-----) [003] .... 21926.770305: task_rename: pid=6 oldcomm=sh newcomm=true oom_score_adj=0\n",

	"version = 6\ncpus=4\n"
	"      wl-401     0d..2.     9.000174590: sched_wakeup_new:     wl:402 [120] CPU:001\n"
	"CPU:0 [4 EVENTS DROPPED]\n"
	"  <idle>-0       1d..2.     9.000180172: sched_switch:         swapper/1:0 [120] R ==> wl:402 [120]\n"
	"       trace-cmd-2461  [000]    34.896972: sched_wakeup:         sshd:2450 [120] success=1 CPU:000\n"
	"     kworker/6:2-11630 [003]  7115.449621: sched_switch:          prev_comm=kworker/6:2 prev_pid=11630 prev_prio=120 prev_state=256 next_comm=swapper/6 next_pid=0 next_prio=120\n"
	"            perf 10002 [000]  2890.633829:       sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=000\n"
	"            perf 10002/10002 [000]  2890.633829:    1   sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=000\n",

	"<!DOCTYPE html>\n<html>\n<script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n"
	"com.android.systemui-611   (  611) [001] d..5 514769.086090: sched_wakeup: comm=Binder_5 pid=679 prio=120 success=1 target_cpu=001 state=W\\n\\\n"
	"<...>-611   (  611) [001] d..3 514769.086139: sched_switch: prev_comm=ndroid.systemui prev_pid=611 prev_prio=120 prev_state=S ==> next_comm=Bin\\\"der_5 next_pid=679 next_prio=120\\n\\\n"
	"</script>\n</html>\n",
};

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static const char *const odd[] = { "[", "]", " ==> ", "\n", "-", "99999999999999999999", "\xff\xfe", " pid=", ":", "]\n[", "\\n\\", "CPU:8191 [LOST EVENTS]\n", "." };

/* Flip bytes, cut, repeat and shuffle lines, insert what the grammar is made of. */
static void mutate(struct blob *b, uint64_t *seed)
{
	unsigned int n = 1 + next_random(seed) % 6;

	while (n-- && b->len > 4) {
		size_t at = next_random(seed) % b->len, len = 1 + next_random(seed) % 80;
		const char *text = odd[next_random(seed) % (sizeof(odd) / sizeof(odd[0]))];

		if (len > b->len - at)
			len = b->len - at;
		switch (next_random(seed) % 7) {
		case 0: b->p[at] = (uint8_t)next_random(seed); break;
		case 1: b->len = at + 1; break;
		case 2: memset(b->p + at, 0, len); break;
		case 3: memmove(b->p + at, b->p + at + len, b->len - at - len); b->len -= len; break;
		case 4:
			len = strlen(text);
			if (len <= b->len - at)
				memcpy(b->p + at, text, len);
			break;
		case 5: b->p[at] = (uint8_t)('0' + next_random(seed) % 10); break;
		default: {
			struct blob copy = blob_copy(b);
			size_t from = next_random(seed) % copy.len;

			blob_append(b, copy.p + from, copy.len - from);	/* lines again, later or in the midst of one */
			free(copy.p);
		}
		}
		if (b->len > 20000)
			b->len = 20000;
	}
}

/* In a quarter of them the bytes of the gzip are damaged instead. */
static void compress_and_damage(struct blob *b, uint64_t *seed)
{
	uLong room = compressBound(b->len) + 64;
	struct blob z = { malloc(room), 0 };
	z_stream s = { 0 };

	assert_int_equal(deflateInit2(&s, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	s.next_in = b->p;
	s.avail_in = (uInt)b->len;
	s.next_out = z.p;
	s.avail_out = (uInt)room;
	assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
	z.len = s.total_out;
	deflateEnd(&s);
	if (next_random(seed) % 2)
		z.p[10 + next_random(seed) % (z.len - 10)] ^= (uint8_t)(1 + next_random(seed) % 255);
	else
		z.len = 3 + next_random(seed) % (z.len - 3);
	free(b->p);
	*b = z;
}

static void mutations(void **state)
{
	const char *want = getenv("RESCHED_MUTATIONS");
	unsigned int variants = want ? (unsigned int)strtoul(want, NULL, 10) : VARIANTS, opened = 0;
	uint64_t seed = 0x9e3779b97f4a7c15ull;

	(void)state;
	print_message("seed %llx, %u variants\n", (unsigned long long)seed, variants);
	for (unsigned int i = 0; i < variants; i++) {
		const char *text = seeds[i % (sizeof(seeds) / sizeof(seeds[0]))];
		struct blob from = { (uint8_t *)(uintptr_t)text, strlen(text) }, b = blob_copy(&from);
		struct timespec a, z;
		struct reading r;

		mutate(&b, &seed);
		if (i % 4 == 3)
			compress_and_damage(&b, &seed);
		clock_gettime(CLOCK_MONOTONIC, &a);
		r = read_bytes(b.p, b.len);
		clock_gettime(CLOCK_MONOTONIC, &z);
		if (!r.ordered || z.tv_sec - a.tv_sec > 5)
			fail_msg("variant %u: %s", i, r.ordered ? "took seconds" : "disorder");
		if (r.rc == 0) {
			uint64_t sum = 0;

			opened++;
			for (unsigned int t = 1; t < RESCHED_EV_NR; t++)
				sum += t == RESCHED_EV_COMM || t == RESCHED_EV_LOST ? 0 : r.nr[t];
			assert_true(sum <= r.total && r.total <= sum + r.nr[RESCHED_EV_COMM]);
			assert_true(r.first_ns <= r.last_ns);
		}
		free(b.p);
	}
	print_message("%u of them opened\n", opened);
	assert_true(opened > variants / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(mutations) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
