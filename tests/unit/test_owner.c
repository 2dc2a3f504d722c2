// SPDX-License-Identifier: GPL-2.0-only
/* Containers and units in the paths that their engines make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <resched/owner.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "kubepods-burstable-pod0a1b2c3d_0000_1111_2222_333344445555.slice"

static const struct {
	const char *path, *container, *unit;
} cases[] = {
	{ "/", "", "" },
	{ "", "", "" },
	{ "/system.slice/nginx.service", "", "nginx.service" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "", "getty@tty1.service" },
	{ "/system.slice/dbus\\x2dbroker.service", "", "dbus-broker.service" },
	{ "/system.slice/run-my\\x2dapp\\x2.mount", "", "run-my-app\\x2.mount" },
	{ "/user.slice/user-1000.slice/session-3.scope", "", "session-3.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-term.scope", "", "app-gnome-term.scope" },
	{ "/user.slice", "", "" },
	{ "/init.scope", "", "init.scope" },
	{ "/system.slice/docker-" ID ".scope", "docker:0123456789ab", "docker-" ID ".scope" },
	{ "/docker/" ID, "docker:0123456789ab", "" },
	{ "/docker/" ID "/system.slice/cron.service", "docker:0123456789ab", "cron.service" },
	{ "/machine.slice/libpod-" ID ".scope/container", "podman:0123456789ab", "libpod-" ID ".scope" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "", "libpod-conmon-" ID ".scope" },
	{ "/libpod_parent/" ID, "podman:0123456789ab", "" },
	{ "/kubepods.slice/kubepods-burstable.slice/" POD "/cri-containerd-" ID ".scope", "containerd:0123456789ab", "cri-containerd-" ID ".scope" },
	{ "/kubepods.slice/kubepods-besteffort.slice/crio-" ID ".scope", "cri-o:0123456789ab", "crio-" ID ".scope" },
	{ "/kubepods/burstable/pod0a1b2c3d-0000/" ID, "kubernetes:0123456789ab", "" },
	{ "/lxc/web", "lxc:web", "" },
	{ "/lxc.payload.web/system.slice/ssh.service", "lxc:web", "ssh.service" },
	{ "/lxc.monitor.web", "", "" },
	{ "/machine.slice/machine-build\\x2d12.scope", "machine:build-12", "machine-build-12.scope" },
	{ "/machine.slice/systemd-nspawn@deb.service/payload", "nspawn:deb", "systemd-nspawn@deb.service" },
	{ "/system.slice/docker-0123.scope", "", "docker-0123.scope" }, /* too short for an id */
	{ "/web/workers", "", "" },
};

static void owners_are_read_from_paths(void **state)
{
	struct resched_owner o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		resched_owner_of(cases[i].path, &o);
		assert_string_equal(o.container, cases[i].container);
		assert_string_equal(o.unit, cases[i].unit);
	}
	resched_owner_of(NULL, &o);
	assert_string_equal(o.container, "");
	assert_string_equal(o.unit, "");
}

static void long_names_are_cut(void **state)
{
	char path[4096];
	struct resched_owner o;

	(void)state;
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = 'a';
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	resched_owner_of(path, &o);
	assert_string_equal(o.unit, "");
	__builtin_memcpy(path + sizeof(path) - 9, ".service", 8);
	resched_owner_of(path, &o);
	assert_int_equal(__builtin_strlen(o.unit), RESCHED_OWNER_LEN - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_are_read_from_paths),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
