// SPDX-License-Identifier: GPL-2.0-only
/*
 * init of a guest of the lab, and the loads it runs under the recorder. Settings and load come on the kernel's command line:
 *
 *   lab.load=NAME  lab.feature=[NO_]NAME  lab.KNOB_ns=VALUE
 *
 * The recording leaves through the second serial port. Work is a fixed number of instructions, which the emulator makes a fixed time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_TURN 6u	/* three instructions of 2 ns */
#define RUN_MS 1500u
#define SETUP_MS 100u
#define APART_US 5000u	/* between two processes that get ready */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void work(unsigned int us)
{
	for (unsigned long i = us * 1000ul / NS_PER_TURN; i; i--)
		__asm__ volatile("nop");
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static unsigned int draw(uint32_t *seed, unsigned int mean_us)
{
	*seed = *seed * 1664525u + 1013904223u;
	return mean_us / 4 + (*seed >> 8) % (mean_us * 3 / 2);
}

static void pass(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		_exit(1);
}

static void await(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		_exit(1);
}

static uint64_t start_ns, end_ns;

/*
 * One process of the load, which works from start_ns to end_ns. Each is made while all others sleep: a task that ran alone has no lag,
 * so the load starts from a state that nobody has to guess. Return: true in it.
 */
static int begin(const char *name, int nice)
{
	if (fork()) {
		usleep(APART_US);
		return 0;
	}
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* those that wait for mail do not end by themselves */
	setpriority(PRIO_PROCESS, 0, nice);
	sleep_until(start_ns);
	return 1;
}

static void hog(const char *name, int nice)
{
	if (!begin(name, nice))
		return;
	while (now_ns() < end_ns)
		work(200);
	_exit(0);
}

static void periodic(const char *name, int nice, unsigned int period_us, unsigned int work_us)
{
	uint64_t at = start_ns;

	if (!begin(name, nice))
		return;
	while ((at += period_us * 1000ul) < end_ns) {
		sleep_until(at);
		work(work_us);
	}
	_exit(0);
}

/* Requests arrive at random, a dispatcher hands them to workers in turn, each answer is logged; two batch jobs fill the rest. */
static void desk(void)
{
	int mail[3], log = eventfd(0, 0);
	char name[16];

	for (int i = 0; i < 3; i++) {
		mail[i] = eventfd(0, EFD_SEMAPHORE);
		snprintf(name, sizeof(name), "clerk%d", i);
		if (begin(name, 0)) {
			for (uint32_t seed = (uint32_t)i;;) {
				await(mail[i]);
				work(draw(&seed, 900));
				pass(log);
			}
		}
	}
	if (begin("logger", 0)) {
		for (;;) {
			await(log);
			work(60);
		}
	}
	if (begin("porter", -3)) {
		uint32_t seed = 7;
		uint64_t at = start_ns;

		for (int i = 0; (at += draw(&seed, 2500) * 1000ul) < end_ns; i++) {
			sleep_until(at);
			work(30);
			pass(mail[i % 3]);
		}
		_exit(0);
	}
	hog("batch0", 0);
	hog("batch1", 4);
}

/* Frames with deadlines beside a stream in small steps and mixed hogs. */
static void frames(void)
{
	periodic("frame60", 0, 16667, 4500);
	periodic("audio", -5, 5333, 350);
	periodic("poll", 2, 1900, 90);
	periodic("sync", 0, 33000, 7000);
	hog("encode0", 3);
	hog("encode1", 3);
	hog("index", 10);
}

static void run_load(const char *name)
{
	start_ns = now_ns() + SETUP_MS * 1000000ull;
	end_ns = start_ns + RUN_MS * 1000000ull;
	if (!strcmp(name, "desk"))
		desk();
	else
		frames();
	sleep_until(end_ns);
}

/* ---- init ---- */

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("SETTING FAILED %s %s\n", path, text);
	if (fd >= 0)
		close(fd);
}

static void apply(const char *word)
{
	char path[128], *value;

	if (!strncmp(word, "feature=", 8)) {
		put("/sys/kernel/debug/sched/features", word + 8);
		return;
	}
	snprintf(path, sizeof(path), "/sys/kernel/debug/sched/%s", word);
	value = strchr(path, '=');
	if (value) {
		*value++ = '\0';
		put(path, value);
	}
}

static void send_out(const char *file)
{
	static char buffer[65536];
	struct termios raw;
	int in = open(file, O_RDONLY), out = open("/dev/ttyS1", O_WRONLY | O_NOCTTY);
	ssize_t len;

	if (in < 0 || out < 0 || tcgetattr(out, &raw) < 0)
		return;
	cfmakeraw(&raw);
	cfsetspeed(&raw, B115200);
	tcsetattr(out, TCSANOW, &raw);
	while ((len = read(in, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0, n; at < len; at += n) {
			n = write(out, buffer + at, (size_t)(len - at));
			if (n < 0)
				return;
		}
	}
	tcdrain(out);
	printf("SENT\n");
}

static void make(const char *dir, const char *type)
{
	mkdir(dir, 0755);
	mount(type, dir, type, 0, NULL);
}

static int uptime(double *up, double *idle)
{
	FILE *f = fopen("/proc/uptime", "r");
	int n = f ? fscanf(f, "%lf %lf", up, idle) : 0;

	if (f)
		fclose(f);
	return n == 2;
}

/*
 * Wait until the boot's own work is done: the kernel tests its ciphers in a thread that takes half a second or none, as the clock has it,
 * and, with voluntary preemption, gives the cpu up where its code allows, not at ticks.
 */
static void settle(void)
{
	double up = 0, idle = 0, up0, idle0;

	do {
		up0 = up;
		idle0 = idle;
		usleep(500000);
	} while (uptime(&up, &idle) && up < 60 && idle - idle0 < 0.9 * (up - up0));
}

int main(int argc, char **argv)
{
	char line[2048] = "", load[32] = "frames", *save = NULL;
	int status = -1;
	FILE *f;
	pid_t pid;

	if (argc == 3) {
		run_load(argv[2]);
		return 0;
	}
	make("/proc", "proc");
	make("/sys", "sysfs");
	make("/dev", "devtmpfs");
	make("/tmp", "tmpfs");
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	f = fopen("/proc/cmdline", "r");
	if (f && fgets(line, sizeof(line), f)) {
		for (char *w = strtok_r(line, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
			if (!strncmp(w, "lab.load=", 9))
				snprintf(load, sizeof(load), "%s", w + 9);
			else if (!strncmp(w, "lab.", 4))
				apply(w + 4);
		}
	}
	settle();
	printf("BEGIN\n");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		char *const args[] = { "/resched", "record", "--truth", "-q", "-o", "/tmp/trace.dat", "--", "/init", "load", load, NULL };

		dup2(1, 2);
		execv(args[0], args);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("END %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	send_out("/tmp/trace.dat");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
