// SPDX-License-Identifier: GPL-2.0-only
#include "capture/caps.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

int rs_caps_drop(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	unsigned int i;

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	for (i = 0; i < 2; i++) {
		uint32_t mask = (uint32_t)(keep >> (32 * i));

		data[i].permitted &= mask;
		data[i].effective &= mask;
		data[i].inheritable &= mask;
	}
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}
