// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define TICK_NS 1000000000ull
#define TICK_SHORT_NS 50000000ull	/* while somebody waits for its next turn */
#define BACKLOG 64

static int refuse(struct server *server, int rc, const char *what)
{
	log_line(server->log, LOG_ERROR, "%s '%s': %s", what, server->config->path, strerror(-rc));
	return rc;
}

/* The folder of the socket, and a lock beside it that says a daemon lives; it goes with the process, however that ends. */
static int lock_path(struct server *server)
{
	char path[sizeof(server->config->path) + 8];
	char *slash;

	snprintf(path, sizeof(path), "%s", server->config->path);
	slash = strrchr(path, '/');
	if (slash && slash != path) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return refuse(server, -errno, "cannot make the folder of");
	}
	snprintf(path, sizeof(path), "%s.lock", server->config->path);
	server->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (server->lock_fd < 0)
		return refuse(server, -errno, "cannot make the lock of");
	if (flock(server->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return refuse(server, errno == EWOULDBLOCK ? -EADDRINUSE : -errno, "another reschedd has");
	return 0;
}

/* Everybody may connect: who may do what is told by credentials, and a refusal in words is better than one without. */
static int make_socket(struct server *server)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, rc = lock_path(server);

	if (rc < 0)
		return rc;
	if (strlen(server->config->path) >= sizeof(address.sun_path))
		return refuse(server, -ENAMETOOLONG, "cannot make");
	memcpy(address.sun_path, server->config->path, strlen(server->config->path) + 1);
	if (lstat(address.sun_path, &st) == 0 && (!S_ISSOCK(st.st_mode) || unlink(address.sun_path) < 0))
		return refuse(server, S_ISSOCK(st.st_mode) ? -errno : -EEXIST, "cannot replace");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return refuse(server, -errno, "cannot make");
	server->listener.fd = fd;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || chmod(address.sun_path, 0666) < 0 || listen(fd, BACKLOG) < 0)
		return refuse(server, -errno, "cannot listen on");
	server->own_path = true;
	return 0;
}

static int take_socket(struct server *server)
{
	int nr = sd_listen_fds(1);

	if (nr <= 0)
		return make_socket(server);
	if (nr > 1 || sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_STREAM, 1) <= 0) {
		log_line(server->log, LOG_ERROR, "the socket unit wants one ListenStream= below /run, and no other");
		return -EINVAL;
	}
	server->listener.fd = SD_LISTEN_FDS_START;
	return fcntl(server->listener.fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

/* Whoever is one too many learns so, if that can be told without waiting. */
static void turn_away(int fd)
{
	static const char line[] = "{\"v\":1,\"ok\":false,\"error\":{\"code\":\"busy\",\"text\":\"too many clients; try again later\"}}\n";

	send(fd, line, sizeof(line) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static void accept_one(void *ctx, uint32_t events)
{
	struct server *server = ctx;
	int fd = accept4(server->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {	/* no descriptor left: not at once again */
			log_line(server->log, LOG_WARN, "cannot accept a client: %s", strerror(errno));
			server->accepting = false;
			loop_want(server->loop, &server->listener, 0);
		}
		return;
	}
	server->count.connections++;
	if (server->nr_clients >= server->config->max_clients) {
		server->count.refused++;
		turn_away(fd);
		return;
	}
	client_new(server, fd);
}

static void on_tick(void *ctx)
{
	struct server *server = ctx;
	struct client *client = server->clients, *next;
	uint64_t now = loop_now_ns();
	bool often = false;

	for (; client; client = next) {
		next = client_next(client);
		often |= client_look(client, now);
	}
	if (!server->accepting) {
		server->accepting = true;
		loop_want(server->loop, &server->listener, EPOLLIN);
	}
	loop_timer_set(server->loop, &server->tick, often ? TICK_SHORT_NS : TICK_NS);
}

int server_open(struct server *server)
{
	int rc;

	server->listener = (struct loop_fd){ .fd = -1, .ready = accept_one, .ctx = server };
	server->lock_fd = -1;
	server->tick = (struct loop_timer){ .due = on_tick, .ctx = server };
	rc = take_socket(server);
	if (rc == 0)
		rc = loop_add(server->loop, &server->listener, EPOLLIN);
	if (rc < 0)
		return rc;
	server->accepting = true;
	loop_timer_set(server->loop, &server->tick, TICK_NS);
	return 0;
}

void server_close(struct server *server)
{
	while (server->clients)
		client_free(server->clients);
	loop_timer_clear(server->loop, &server->tick);
	if (server->listener.fd >= 0) {
		if (server->own_path)
			unlink(server->config->path);
		close(server->listener.fd);
	}
	if (server->lock_fd >= 0)
		close(server->lock_fd);
	server->listener.fd = server->lock_fd = -1;
}

void server_set_config(struct server *server, const struct config *config)
{
	server->config = config;
}
