// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_BYTES (1u << 20)	/* several times the deepest seen */
#define PAGE_BYTES 4096u
#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* The sanitizers reserve terabytes of addresses. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_ADDRESSES false
#else
#define LIMIT_ADDRESSES true
#endif

static const int allowed[] = {
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(readv), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(lseek), SCMP_SYS(close),
	SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(fcntl), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect),
	SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
	SCMP_SYS(getrandom), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(sigaltstack), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(sysinfo),
	SCMP_SYS(getrusage),
};

/* Nothing here has a harmless use: whoever calls it is no longer our program. */
static const int deadly[] = {
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev), SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(mount),
	SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(io_uring_setup), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(kexec_load),
};

static int add_rules(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int rc = calls[i] < 0 ? 0 : seccomp_rule_add(filter, action, calls[i], 0);	/* < 0: not on this architecture */

		if (rc < 0)
			return rc;
	}
	return 0;
}

int sandbox_close(void)
{
	scmp_filter_ctx filter;
	int rc;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	filter = seccomp_init(SCMP_ACT_ERRNO(EACCES));
	if (!filter)
		return -ENOMEM;
	rc = add_rules(filter, SCMP_ACT_ALLOW, allowed, NR(allowed));
	if (rc == 0)
		rc = add_rules(filter, SCMP_ACT_KILL_PROCESS, deadly, NR(deadly));
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

/*
 * The stack grows into the address space: where none is left, a deeper call is a fault and no error that could be told. What a what-if
 * needs at most is taken before the limit.
 */
static void __attribute__((noinline)) take_stack(void)
{
	volatile char room[STACK_BYTES];
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur < 2 * STACK_BYTES)
		return;
	for (size_t at = sizeof(room); at > 0; at -= PAGE_BYTES)
		room[at - PAGE_BYTES] = 0;
}

/* @soft below @hard where a signal of its own tells that the limit was met. */
static int limit(int resource, uint64_t soft, uint64_t hard)
{
	const struct rlimit value = { soft, hard };

	return setrlimit((__rlimit_resource_t)resource, &value) < 0 ? -errno : 0;
}

/* The first to go when the machine is out of memory. May fail: then it is one among others. */
static void offer_to_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4)
		errno = 0;
	close(fd);
}

int sandbox_limit(const struct sandbox_limits *limits)
{
	int rc = 0;

	take_stack();
	offer_to_oom();
	setpriority(PRIO_PROCESS, 0, 10);
	if (LIMIT_ADDRESSES && limits->memory)
		rc = limit(RLIMIT_AS, limits->memory, limits->memory);
	if (rc == 0 && limits->cpu_s)
		rc = limit(RLIMIT_CPU, limits->cpu_s, limits->cpu_s + 2);
	if (rc == 0)
		rc = limit(RLIMIT_CORE, 0, 0);
	if (rc == 0)
		rc = limit(RLIMIT_FSIZE, 0, 0);
	if (rc == 0)
		rc = limit(RLIMIT_NOFILE, 16, 16);
	return rc;
}

int sandbox_identity(uid_t uid, gid_t gid)
{
	if (geteuid() != 0 || uid == 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return setuid(0) == 0 ? -EPERM : 0;	/* there must be no way back */
}
