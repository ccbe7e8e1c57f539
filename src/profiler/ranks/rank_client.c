/* rank_client.c - a rank's side of the connection to rank 0: a thread that connects, retries until
 * rank 0 listens, and makes rounds of clock exchanges: one when it has connected, one each second,
 * and one when the program has ended.
 *
 * While the thread runs it owns the connection and the exchanges; rank_client_clock() joins it, and
 * everything after that happens on the caller's thread.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_link.h"
#include "profiler/ranks/rank_message.h"

#include "base/err.h"
#include "base/mem.h"

#include "os/net/network.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ROUND_EXCHANGES = 8, EXCHANGES_MAX = 1 << 20, ATTEMPT_MS = 5000 };
#define ROUND_EVERY_NS UINT64_C(1000000000)
#define RETRY_EVERY_NS UINT64_C(50000000)
#define CLIENT_LOOK_NS UINT64_C(20000000)
#define ANSWER_TIME_NS UINT64_C(5000000000)

struct rank_client {
	rank_meeting *meeting;
	uint32_t rank;
	int fd;			  /* -1: not connected */
	bool refused;		  /* a process listens there that is not our rank 0 */
	bool taken;		  /* another process has this rank */
	dck_err failed;		  /* of the last attempt to connect; {0}: there was none */
	rank_exchange *exchanges; /* @owned */
	size_t n, cap;
	uint64_t rounds;
	pthread_t thread;
	bool running;
	_Atomic bool ending;	      /* the program has ended */
	_Atomic uint64_t deadline_ns; /* of the connection, after that */
};

/* Returns how long an attempt to connect may take. A host that drops packets does not answer. */
static int attempt_ms(rank_client *c)
{
	const uint64_t until = atomic_load(&c->deadline_ns), now = os_now_ns();

	if (!atomic_load(&c->ending) || until > now + ATTEMPT_MS * UINT64_C(1000000))
		return ATTEMPT_MS;
	return until > now ? (int)((until - now) / 1000000) + 1 : 1;
}

static bool client_connect(rank_client *c)
{
	rank_hello hello = {.rank = c->rank};
	char port[8];
	int fd;

	if (!rank_meeting_read(c->meeting))
		return false;
	snprintf(port, sizeof port, "%u", c->meeting->port);
	if (os_net_dial(c->meeting->host, port, attempt_ms(c), NULL, &fd, &c->failed) != DCK_OK)
		return false;
	memcpy(hello.token, c->meeting->token, sizeof hello.token);
	const uint64_t deadline = os_now_ns() + ANSWER_TIME_NS;
	const uint32_t answer = rank_message_send(fd, RANK_HELLO, &hello, sizeof hello, deadline)
				    ? rank_message_kind_receive(fd, deadline)
				    : 0;
	c->taken = answer == RANK_TAKEN;
	c->refused = answer != RANK_WELCOME;
	if (c->refused)
		os_close(fd);
	else
		c->fd = fd;
	return !c->refused;
}

static void connection_drop(rank_client *c)
{
	if (c->fd >= 0)
		os_close(c->fd);
	c->fd = -1;
}

/* One exchange of four time stamps. The message is one system call, so that nothing is between the
 * stamp and the sending. */
static bool exchange_make(rank_client *c, rank_exchange *ret)
{
	struct {
		rank_head head;
		int64_t sent_ns;
	} ping = {{RANK_PING, sizeof(int64_t)}, 0};
	int64_t stamps[3];
	const uint64_t deadline = os_now_ns() + ANSWER_TIME_NS;

	ping.sent_ns = (int64_t)os_boottime_ns();
	if (!os_net_send_all(c->fd, &ping, sizeof ping, deadline) ||
	    !rank_message_receive(c->fd, RANK_PONG, stamps, sizeof stamps, deadline) ||
	    stamps[0] != ping.sent_ns)
		return false;
	*ret =
	    (rank_exchange){stamps[0], stamps[1], stamps[2], (int64_t)os_boottime_ns(), c->rounds};
	return true;
}

static void round_make(rank_client *c)
{
	for (int i = 0; i < ROUND_EXCHANGES && c->fd >= 0 && c->n < EXCHANGES_MAX; i++) {
		if (!mem_reserve(&c->exchanges, &c->cap, c->n + 1, sizeof *c->exchanges))
			return;
		if (exchange_make(c, &c->exchanges[c->n]))
			c->n++;
		else
			connection_drop(c);
	}
	c->rounds++;
}

static bool client_ending(void *self)
{
	const rank_client *c = self;

	return atomic_load(&c->ending);
}

/* Sleeps in short pieces, so that the end of the program is seen. */
static void client_pause(rank_client *c, uint64_t ns)
{
	const uint64_t until = os_now_ns() + ns;

	while (!client_ending(c) && os_now_ns() < until)
		(void)os_sleep_ns(CLIENT_LOOK_NS, client_ending, c);
}

static void *client_main(void *self)
{
	rank_client *c = self;

	while (c->fd < 0 && !client_connect(c)) {
		if (c->taken)
			return NULL;
		if (client_ending(c) && os_now_ns() >= atomic_load(&c->deadline_ns))
			return NULL;
		(void)os_sleep_ns(RETRY_EVERY_NS, NULL, NULL);
	}
	while (!client_ending(c)) {
		round_make(c);
		client_pause(c, ROUND_EVERY_NS);
	}
	round_make(c);
	return NULL;
}

dck_status rank_client_start(rank_meeting *m, uint32_t rank, rank_client **ret, dck_err *err)
{
	rank_client *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "for the connection to rank 0");
	c->meeting = m;
	c->rank = rank;
	c->fd = -1;
	c->running = pthread_create(&c->thread, NULL, client_main, c) == 0;
	if (!c->running) {
		mem_free(c);
		DCK_FAIL(err, E_LIMIT, "no thread can be started for the connection to rank 0");
	}
	*ret = c;
	return DCK_OK;
}

void rank_client_clock(rank_client *c, uint64_t wait_ns, const rank_exchange **ret, size_t *ret_n)
{
	atomic_store(&c->deadline_ns, os_now_ns() + wait_ns);
	atomic_store(&c->ending, true);
	if (c->running)
		pthread_join(c->thread, NULL);
	c->running = false;
	*ret = c->exchanges;
	*ret_n = c->n;
}

dck_status rank_client_trace(rank_client *c, const char *path, uint64_t wait_ns, dck_err *err)
{
	const uint64_t deadline = os_now_ns() + wait_ns;
	uint8_t *chunk = mem_alloc(RANK_CHUNK_MAX);
	const int fd = os_open_read(path);
	dck_status status = DCK_OK;
	ptrdiff_t n;

	if (!chunk)
		status = ERR_NO_MEMORY(err, "for the trace of a rank");
	for (uint64_t at = 0; status == DCK_OK && c->fd >= 0; at += (uint64_t)n) {
		n = fd < 0 ? -1 : os_read_at(fd, chunk, RANK_CHUNK_MAX, at);
		if (n < 0)
			status = ERR_SET(err, E_IO, "cannot read the trace '%.200s'", path);
		if (n <= 0)
			break;
		if (!rank_message_send(c->fd, RANK_TRACE, chunk, (size_t)n, deadline))
			connection_drop(c);
	}
	if (fd >= 0)
		os_close(fd);
	mem_free(chunk);
	return status;
}

static dck_status client_connected(const rank_client *c, dck_err *err)
{
	if (c->fd < 0)
		DCK_FAIL(
		    err, E_IO, "rank %u has no connection to rank 0 on '%.200s': %s", c->rank,
		    c->meeting->file[0] ? c->meeting->file : c->meeting->host,
		    c->n ? "it ended"
		    : c->taken
			? "another process of the job has that rank; give each process another rank"
		    : c->refused     ? "it was refused; another job may use the name (--rendezvous)"
		    : c->failed.code ? c->failed.msg
				     : "nobody answered (--wait, --rendezvous)");
	return DCK_OK;
}

dck_status rank_client_ready(rank_client *c, const void *bytes, size_t n, uint64_t wait_ns,
			     int *ret_fd, dck_err *err)
{
	DCK_TRY(client_connected(c, err));
	if (!rank_message_send(c->fd, RANK_READY, bytes, n, os_now_ns() + wait_ns))
		DCK_FAIL(err, E_IO, "rank %u could not send its part: rank 0 has ended", c->rank);
	*ret_fd = c->fd;
	return DCK_OK;
}

dck_status rank_client_send(rank_client *c, const void *bytes, size_t n, uint64_t wait_ns,
			    dck_err *err)
{
	const uint64_t deadline = os_now_ns() + wait_ns;

	DCK_TRY(client_connected(c, err));
	if (n > RANK_RESULT_MAX)
		DCK_FAIL(err, E_LIMIT, "the part of rank %u has %zu MB, and may have %d", c->rank,
			 n >> 20, RANK_RESULT_MAX >> 20);
	if (!rank_message_send(c->fd, RANK_RESULT, bytes, n, deadline) ||
	    !rank_message_receive(c->fd, RANK_DONE, NULL, 0, deadline))
		DCK_FAIL(err, E_IO, "rank %u could not send its part: rank 0 has ended", c->rank);
	return DCK_OK;
}

void rank_client_stop(rank_client *c)
{
	const rank_exchange *e;
	size_t n;

	if (!c)
		return;
	rank_client_clock(c, 0, &e, &n);
	connection_drop(c);
	mem_free(c->exchanges);
	mem_free(c);
}
