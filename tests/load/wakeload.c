// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakeload: a small load full of wakeups and contention, for demonstrations, tests and benches. No
 * dependencies but libc.
 *
 *   wakeload [-m] [-w WORKERS] [-p PAIRS] [-n LOOPS] [-q] [SECONDS]
 *
 * A messenger that wakes workers through futexes, pairs that pass a byte to and fro through pipes,
 * a task that works 1 ms of every 5 ms, and two hogs, nice 0 and nice 5: more runnable tasks than
 * two cpus hold. So who preempts whom, and who waits, differs visibly between policies. -m is a
 * storm of messages without hogs, for recordings of many events: half a million switches a second
 * and more. Ends after SECONDS (default 2), or after LOOPS rounds of the messenger; the exit status
 * is 0.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS	512
#define PERIOD_NS	5000000
#define PERIOD_WORK_NS	1000000
#define WORKER_WORK_NS	150000
#define MESSENGER_NS	100000
#define PAIR_WORK_NS	20000
#define MAX_SECONDS	600
#define CALIBRATIONS	20
#define CALIBRATION_TURNS 200000

struct worker { struct load *load; _Atomic int mail; };	/* mail: 1 = something to do; futex */
struct pair { struct load *load; int there[2], back[2]; };

struct load {
	_Atomic bool stop;
	bool storm, quiet;
	unsigned int nr_workers, nr_pairs;
	unsigned long loops;		/* of the messenger; 0 = until the time is over */
	double seconds;
	double turns_per_ns;		/* of spin() */
	struct worker *workers;
	struct pair *pairs;
	_Atomic int replies;		/* of workers to the messenger; futex */
	_Atomic unsigned long rounds;	/* done by the messenger */
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
};

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void spin(uint64_t turns)
{
	volatile uint64_t turn;

	for (turn = 0; turn < turns; turn++)
		;
}

/*
 * Use up cpu time, not wall time: the demand is the same however often the thread is preempted.
 * Asking for the thread's cpu time instead would make the kernel charge it at every call, and fill
 * a recording with that.
 */
static void work(const struct load *load, uint64_t ns)
{
	spin((uint64_t)((double)ns * load->turns_per_ns));
}

/* The best of some short runs: the one that was not disturbed. */
static double calibrate(void)
{
	double best = 0;
	int i;

	for (i = 0; i < CALIBRATIONS; i++) {
		double started = seconds_now(), rate;

		spin(CALIBRATION_TURNS);
		rate = CALIBRATION_TURNS / ((seconds_now() - started) * 1e9);
		if (rate > best)
			best = rate;
	}
	return best;
}

static void futex_wait(_Atomic int *word, int while_it_is)
{
	const struct timespec at_most = {
		.tv_nsec = 50000000
	}; /* so that nobody sleeps past the end */

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_it_is, &at_most, NULL, 0);
}

static void futex_wake(_Atomic int *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct load *load = worker->load;

	pthread_setname_np(pthread_self(), "worker");
	while (!atomic_load(&load->stop)) {
		if (!atomic_load(&worker->mail)) {
			futex_wait(&worker->mail, 0);
			continue;
		}
		if (!load->storm)
			work(load, WORKER_WORK_NS);
		atomic_store(&worker->mail, 0);
		atomic_fetch_add(&load->replies, 1);
		futex_wake(&load->replies);
	}
	return NULL;
}

static void *messenger_main(void *arg)
{
	struct load *load = arg;
	unsigned int i;

	pthread_setname_np(pthread_self(), "messenger");
	while (!atomic_load(&load->stop)) {
		int got;

		atomic_store(&load->replies, 0);
		for (i = 0; i < load->nr_workers; i++) {
			atomic_store(&load->workers[i].mail, 1);
			futex_wake(&load->workers[i].mail);
		}
		if (!load->storm)
			work(load, MESSENGER_NS);
		while ((got = atomic_load(&load->replies)) < (int)load->nr_workers &&
		       !atomic_load(&load->stop))
			futex_wait(&load->replies, got);
		if (atomic_fetch_add(&load->rounds, 1) + 1 == load->loops)
			atomic_store(&load->stop, true);
	}
	return NULL;
}

/* Pass the byte on until the other side closes its end. */
static void pass_on(struct load *load, int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		if (!load->storm)
			work(load, PAIR_WORK_NS);
		if (atomic_load(&load->stop) || write(to, &byte, 1) != 1)
			break;
	}
	close(to);
}

static void *ping_main(void *arg)
{
	struct pair *pair = arg;

	pthread_setname_np(pthread_self(), "ping");
	if (write(pair->there[1], "x", 1) == 1)
		pass_on(pair->load, pair->back[0], pair->there[1]);
	return NULL;
}

static void *pong_main(void *arg)
{
	struct pair *pair = arg;

	pthread_setname_np(pthread_self(), "pong");
	pass_on(pair->load, pair->there[0], pair->back[1]);
	return NULL;
}

static void *periodic_main(void *arg)
{
	struct load *load = arg;
	struct timespec next;

	pthread_setname_np(pthread_self(), "periodic");
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!atomic_load(&load->stop)) {
		next.tv_nsec += PERIOD_NS;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		work(load, PERIOD_WORK_NS);
	}
	return NULL;
}

static void hog(struct load *load)
{
	while (!atomic_load(&load->stop))
		work(load, 1000000);
}

static void *hog_main(void *arg)
{
	pthread_setname_np(pthread_self(), "hog");
	hog(arg);
	return NULL;
}

static void *nice_hog_main(void *arg)
{
	pthread_setname_np(pthread_self(), "hog-nice5");
	/* on Linux a thread's nice value is its own; 0 is the calling thread */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5);
	hog(arg);
	return NULL;
}

static void start(struct load *load, void *(*run)(void *), void *arg)
{
	int rc = load->nr_threads == MAX_THREADS
			 ? EAGAIN
			 : pthread_create(&load->threads[load->nr_threads], NULL, run, arg);

	if (rc) {
		fprintf(stderr, "wakeload: cannot start a thread: %s\n", strerror(rc));
		exit(1);
	}
	load->nr_threads++;
}

static void start_all(struct load *load)
{
	unsigned int i;

	for (i = 0; i < load->nr_workers; i++) {
		load->workers[i].load = load;
		start(load, worker_main, &load->workers[i]);
	}
	for (i = 0; i < load->nr_pairs; i++) {
		struct pair *pair = &load->pairs[i];

		pair->load = load;
		if (pipe(pair->there) < 0 || pipe(pair->back) < 0) {
			perror("wakeload: cannot make a pipe");
			exit(1);
		}
		start(load, pong_main, pair);
		start(load, ping_main, pair);
	}
	if (load->nr_workers)
		start(load, messenger_main, load);
	if (load->storm)
		return;
	start(load, periodic_main, load);
	start(load, hog_main, load);
	start(load, nice_hog_main, load);
}

static void wait_for_end(struct load *load)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	double end = seconds_now() + load->seconds;
	unsigned int i;

	while (!atomic_load(&load->stop) && seconds_now() < end)
		nanosleep(&step, NULL);
	atomic_store(&load->stop, true);
	for (i = 0; i < load->nr_threads; i++)
		pthread_join(load->threads[i], NULL);
}

static void usage(FILE *out)
{
	fputs("usage: wakeload [-m] [-w WORKERS] [-p PAIRS] [-n LOOPS] [-q] [SECONDS]\n"
	      "  -m  storm of messages, no hogs      -w  workers of the messenger (default 6)\n"
	      "  -p  pairs of ping and pong (2)      -n  end after so many rounds of the messenger\n"
	      "  -q  print nothing\n", out);
}

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value > most) {
		fprintf(stderr, "wakeload: bad number '%s', at most %lu\n", text, most);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static struct load load = { .nr_workers = 6, .nr_pairs = 2, .seconds = 2 };
	double started;
	int opt;

	while ((opt = getopt(argc, argv, "mw:p:n:qh")) != -1) {
		switch (opt) {
		case 'm': load.storm = true; break;
		case 'w': load.nr_workers = (unsigned int)number(optarg, 200); break;
		case 'p': load.nr_pairs = (unsigned int)number(optarg, 100); break;
		case 'n': load.loops = number(optarg, 1000000000); break;
		case 'q': load.quiet = true; break;
		case 'h': usage(stdout); return 0;
		default: usage(stderr); return 2;
		}
	}
	if (optind < argc)
		load.seconds = strtod(argv[optind], NULL);
	if (argc - optind > 1 || !(load.seconds > 0 && load.seconds <= MAX_SECONDS)) {
		usage(stderr);
		return 2;
	}
	load.workers = calloc(load.nr_workers + 1, sizeof(*load.workers));
	load.pairs = calloc(load.nr_pairs + 1, sizeof(*load.pairs));
	if (!load.workers || !load.pairs) {
		fputs("wakeload: out of memory\n", stderr);
		return 1;
	}
	load.turns_per_ns = calibrate();
	started = seconds_now();
	start_all(&load);
	wait_for_end(&load);
	if (!load.quiet)
		printf("wakeload: %lu rounds of %u workers in %.2f s\n", atomic_load(&load.rounds),
		       load.nr_workers, seconds_now() - started);
	free(load.workers);
	free(load.pairs);
	return 0;
}
