/* rank_server.c - rank 0's side of the connections: one thread, one queue of events.
 *
 * A connection is unknown until its first message has the job's token and a rank that is not
 * connected yet; else it is closed, as is an unknown one that is silent for HELLO_NS. A message is
 * read as far as it has come. Parts and traces of ranks go to files as they come, through one
 * buffer, so that memory depends on the number of ranks alone; other messages have at most
 * RANK_SMALL_MAX bytes. Time stamps of an exchange are taken next to the system calls. A rank's
 * state only grows: unseen, connected, then arrived or lost. The lock guards the states, which the
 * waiting thread reads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_link.h"
#include "profiler/ranks/rank_message.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"

#include "os/net/network.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { UNKNOWN_MAX = 64, LOOK_MS = 50, SERVER_BUFFER = 65536 };
/* Ranks whose connections fit into the usual limit of 1024 descriptors, beside those of the rest.
 */
enum { RANKS_FEW = 512 };
#define HELLO_NS	 UINT64_C(10000000000)
#define NO_DESCRIPTOR_NS UINT64_C(1000000)
#define ANSWER_NS	 UINT64_C(1000000000)
/* After an interruption, which ends the other ranks too: they are sending their parts. */
#define GRACE_NS UINT64_C(2000000000)

typedef enum rank_state {
	RANK_UNSEEN,
	RANK_CONNECTED,
	RANK_ARRIVED,
	RANK_LOST,
	RANK_NOT_STORED
} rank_state;

typedef struct rank_connection {
	int fd;	       /* -1: a free row */
	uint32_t rank; /* 0: unknown */
	uint64_t since_ns;
	rank_head head;
	size_t got;  /* of head and content */
	bool stored; /* the content goes to a file */
	uint8_t small[RANK_SMALL_MAX];
} rank_connection;

typedef struct rank_row {
	rank_state state;
	bool part_lost;	      /* it could not be stored */
	uint64_t trace_bytes; /* stored */
	bool trace_lost;
} rank_row;

struct rank_server {
	rank_meeting *meeting;
	const char *directory;
	bool traces; /* are stored */
	int listening;
	uint32_t size;
	os_events events;
	rank_connection *connections; /* @owned; rows */
	size_t rows;
	rank_row *ranks; /* @owned; size */
	pthread_mutex_t lock;
	pthread_t thread;
	bool running;
	bool interrupted; /* the wait was cancelled */
	_Atomic bool ending;
	uint8_t buffer[SERVER_BUFFER]; /* of the thread */
};

static void rank_connection_close(rank_server *s, rank_connection *k)
{
	pthread_mutex_lock(&s->lock);
	if (k->rank && s->ranks[k->rank].state == RANK_CONNECTED)
		s->ranks[k->rank].state = RANK_LOST;
	pthread_mutex_unlock(&s->lock);
	os_close(k->fd);
	*k = (rank_connection){.fd = -1};
}

static bool answer_send(const rank_connection *k, rank_message_kind kind, const void *content,
			uint32_t n)
{
	uint8_t bytes[sizeof(rank_head) + RANK_SMALL_MAX];
	const rank_head head = {kind, n};

	memcpy(bytes, &head, sizeof head);
	if (n)
		memcpy(bytes + sizeof head, content, n);
	return os_net_send_all(k->fd, bytes, sizeof head + n, os_now_ns() + ANSWER_NS);
}

/* Compares in a time that does not depend on the content. */
static bool token_is(const rank_server *s, const rank_hello *hello)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < sizeof hello->token; i++)
		differs |= (unsigned char)(hello->token[i] ^ s->meeting->token[i]);
	return differs == 0;
}

static bool hello_accept(rank_server *s, rank_connection *k)
{
	rank_hello hello;
	bool fresh;

	if (k->head.kind != RANK_HELLO || k->head.bytes != sizeof hello)
		return false;
	memcpy(&hello, k->small, sizeof hello);
	if (!token_is(s, &hello) || hello.rank == 0 || hello.rank >= s->size)
		return false;
	pthread_mutex_lock(&s->lock);
	fresh = s->ranks[hello.rank].state == RANK_UNSEEN;
	if (fresh)
		s->ranks[hello.rank].state = RANK_CONNECTED;
	pthread_mutex_unlock(&s->lock);
	k->rank = fresh ? hello.rank : 0;
	return answer_send(k, fresh ? RANK_WELCOME : RANK_TAKEN, NULL, 0) && fresh;
}

static void rank_path(const rank_server *s, uint32_t rank, bool part, char *ret, size_t size)
{
	snprintf(ret, size, "%s/rank-%u.%s", s->directory, rank, part ? "part" : "pftrace");
}

/* Appends the first n bytes of the buffer to a file. */
static bool buffer_append(const rank_server *s, const char *path, size_t n)
{
	dck_sink out;
	int fd;

	if (os_open_append(path, &fd, NULL) != DCK_OK)
		return false;
	dck_sink_fd(&out, fd);
	sink_put(&out, s->buffer, n);
	const bool stored = dck_sink_finish(&out, NULL) == DCK_OK;
	os_close(fd);
	return stored;
}

/* Stores the next n bytes of the content, which are in the buffer. What cannot be stored costs the
 * part, or the trace, alone. */
static void content_store(rank_server *s, const rank_connection *k, size_t n)
{
	const bool part = k->head.kind != RANK_TRACE;
	rank_row *row = &s->ranks[k->rank];
	bool *lost = part ? &row->part_lost : &row->trace_lost;
	char path[4096];

	row->trace_bytes += part ? 0 : n;
	if (*lost)
		return;
	rank_path(s, k->rank, part, path, sizeof path);
	*lost = (!part && row->trace_bytes > RANK_TRACE_MAX) || !buffer_append(s, path, n);
	if (*lost)
		os_file_remove(path);
}

/* Returns whether the connection goes on: after RANK_READY. */
static bool part_finish(rank_server *s, const rank_connection *k)
{
	rank_row *row = &s->ranks[k->rank];

	pthread_mutex_lock(&s->lock);
	row->state = row->part_lost ? RANK_NOT_STORED : RANK_ARRIVED;
	pthread_mutex_unlock(&s->lock);
	if (k->head.kind == RANK_READY)
		return true;
	(void)answer_send(k, RANK_DONE, NULL, 0);
	return false;
}

/* A whole message has come. false: the connection ends. */
static bool message_handle(rank_server *s, rank_connection *k, int64_t received_ns)
{
	int64_t stamps[3] = {0, received_ns, 0};

	k->got = 0;
	if (!k->rank)
		return hello_accept(s, k);
	if (k->head.kind == RANK_RESULT || k->head.kind == RANK_READY)
		return part_finish(s, k);
	if (k->head.kind == RANK_TRACE)
		return true;
	if (k->head.kind != RANK_PING || k->head.bytes != sizeof stamps[0])
		return false;
	memcpy(stamps, k->small, sizeof stamps[0]);
	stamps[2] = (int64_t)os_boottime_ns();
	return answer_send(k, RANK_PONG, stamps, sizeof stamps);
}

/* The head has come: decides where the content goes. false: it is refused. */
static bool content_prepare(rank_server *s, rank_connection *k)
{
	const bool trace = k->head.kind == RANK_TRACE;
	const uint32_t most = k->head.kind == RANK_RESULT	    ? RANK_RESULT_MAX
			      : k->head.kind == RANK_READY || trace ? RANK_CHUNK_MAX
								    : 0;
	char path[4096];

	k->stored = most > 0;
	if (!k->stored)
		return k->head.bytes <= RANK_SMALL_MAX;
	if (!k->rank || k->head.bytes == 0 || k->head.bytes > most || (trace && !s->traces))
		return false;
	if (trace)
		return true;
	rank_path(s, k->rank, true, path, sizeof path);
	os_file_remove(path);
	return true;
}

/* Reads the next bytes of the head or of the content: small ones to where they stay, others through
 * the buffer to a file. Returns as os_net_receive(). */
static ptrdiff_t message_receive(rank_server *s, rank_connection *k)
{
	const size_t head = sizeof k->head;

	if (k->got < head)
		return os_net_receive(k->fd, (uint8_t *)&k->head + k->got, head - k->got);
	const size_t at = k->got - head, left = k->head.bytes - at;
	if (!k->stored)
		return os_net_receive(k->fd, k->small + at, left);
	const ptrdiff_t n =
	    os_net_receive(k->fd, s->buffer, left < SERVER_BUFFER ? left : SERVER_BUFFER);
	if (n > 0)
		content_store(s, k, (size_t)n);
	return n;
}

/* Reads what has come. false: the connection ends. */
static bool rank_connection_read(rank_server *s, rank_connection *k)
{
	for (;;) {
		const bool in_head = k->got < sizeof k->head;
		const ptrdiff_t got = message_receive(s, k);

		if (got <= 0)
			return got == OS_NET_AGAIN;
		const int64_t now = (int64_t)os_boottime_ns();
		k->got += (size_t)got;
		if (k->got == sizeof k->head && in_head && !content_prepare(s, k))
			return false;
		if (k->got >= sizeof k->head && k->got == sizeof k->head + k->head.bytes &&
		    !message_handle(s, k, now))
			return false;
	}
}

static void connections_accept(rank_server *s)
{
	for (;;) {
		const int fd = os_net_accept(s->listening);
		size_t i = 0;

		if (fd < 0) {
			/* It would be reported at once again. */
			if (errno == EMFILE || errno == ENFILE)
				(void)os_sleep_ns(NO_DESCRIPTOR_NS, NULL, NULL);
			return;
		}
		while (i < s->rows && s->connections[i].fd >= 0)
			i++;
		if (i == s->rows || !os_events_add(&s->events, fd, &s->connections[i], false))
			os_close(fd);
		else
			s->connections[i] = (rank_connection){.fd = fd, .since_ns = os_now_ns()};
	}
}

/* Closes the connections that have been unknown for too long. */
static void silent_close(rank_server *s)
{
	const uint64_t now = os_now_ns();

	for (size_t i = 0; i < s->rows; i++) {
		rank_connection *k = &s->connections[i];

		if (k->fd >= 0 && !k->rank && now - k->since_ns > HELLO_NS)
			rank_connection_close(s, k);
	}
}

static void *server_main(void *self)
{
	rank_server *s = self;
	os_event e[OS_EVENTS_MAX];
	uint64_t looked_ns = os_now_ns();

	while (!atomic_load(&s->ending)) {
		const size_t n = os_events_wait(&s->events, LOOK_MS, e);
		bool more = false;

		for (size_t i = 0; i < n; i++) {
			rank_connection *k = e[i].key;

			if (e[i].key == s)
				more = true;
			else if (k && k->fd >= 0 && !rank_connection_read(s, k))
				rank_connection_close(s, k);
		}
		if (more)
			connections_accept(s);
		if (os_now_ns() - looked_ns > HELLO_NS / 10) {
			silent_close(s);
			looked_ns = os_now_ns();
		}
	}
	return NULL;
}

static dck_status server_listen(rank_server *s, dck_err *err)
{
	rank_meeting *m = s->meeting;
	os_net_address at;
	char port[8];

	DCK_TRY(os_events_open(&s->events, err));
	snprintf(port, sizeof port, "%u", m->port);
	DCK_TRY(os_net_listen(m->host, port, &at, &s->listening, err));
	m->port = os_net_port(&at);
	if (!os_events_add(&s->events, s->listening, s, false))
		DCK_FAIL(err, E_IO, "cannot wait for connections of ranks");
	return rank_meeting_publish(m, err);
}

dck_status rank_server_start(rank_meeting *m, uint32_t size, const char *directory, bool traces,
			     rank_server **ret, dck_err *err)
{
	rank_server *s = mem_zalloc(1, sizeof *s);
	dck_status status = DCK_OK;

	DCK_NEED(s, err, "for the connections of %u ranks", size);
	pthread_mutex_init(&s->lock, NULL);
	s->meeting = m;
	s->directory = directory;
	s->traces = traces;
	s->listening = -1;
	s->events = (os_events){-1, -1};
	s->size = size;
	s->rows = size + UNKNOWN_MAX;
	if (size > RANKS_FEW)
		os_descriptors_raise();
	s->connections = mem_zalloc(s->rows, sizeof *s->connections);
	s->ranks = mem_zalloc(size, sizeof *s->ranks);
	if (!s->connections || !s->ranks)
		status = ERR_NO_MEMORY(err, "for the connections of %u ranks", size);
	for (size_t i = 0; status == DCK_OK && i < s->rows; i++)
		s->connections[i].fd = -1;
	DCK_NEXT(status, server_listen(s, err));
	if (status == DCK_OK) {
		s->running = pthread_create(&s->thread, NULL, server_main, s) == 0;
		if (!s->running)
			status = ERR_SET(err, E_LIMIT,
					 "no thread can be started for the connections of ranks");
	}
	if (status == DCK_OK)
		*ret = s;
	else
		rank_server_stop(s);
	return status;
}

/* Returns whether each rank's part has come or is lost. */
static bool server_complete(rank_server *s)
{
	bool complete = true;

	pthread_mutex_lock(&s->lock);
	for (uint32_t r = 1; r < s->size; r++)
		complete = complete && s->ranks[r].state >= RANK_ARRIVED;
	pthread_mutex_unlock(&s->lock);
	return complete;
}

void rank_server_wait(rank_server *s, uint64_t deadline_ns, bool (*cancelled)(void *self),
		      void *self)
{
	for (uint64_t now; !server_complete(s) && (now = os_now_ns()) < deadline_ns;) {
		if (!s->interrupted && cancelled && cancelled(self)) {
			s->interrupted = true;
			deadline_ns = now + GRACE_NS < deadline_ns ? now + GRACE_NS : deadline_ns;
		}
		(void)os_sleep_ns(20000000, NULL, NULL);
	}
}

void rank_server_close(rank_server *s)
{
	atomic_store(&s->ending, true);
	if (s->running)
		pthread_join(s->thread, NULL);
	s->running = false;
}

bool rank_server_part(const rank_server *s, uint32_t rank, char *ret, size_t size,
		      rank_absence *ret_absence)
{
	static const rank_absence absences[] = {
	    [RANK_UNSEEN] = {"it never connected to rank 0",
			     "look at that rank's output; give rank 0 more time (--wait), or the "
			     "ranks a common place (--rendezvous)"},
	    [RANK_CONNECTED] = {"its part did not come in time (--wait)",
				"look at that rank's output, or give rank 0 more time"},
	    [RANK_LOST] = {"its connection ended before its part came",
			   "look at that rank's output"},
	    [RANK_NOT_STORED] = {"its part could not be stored below $TMPDIR at rank 0",
				 "free space there, or set TMPDIR to another directory"},
	};
	static const rank_absence interrupted = {
	    "the job was interrupted before its part came",
	    "end the program of each rank by the launcher, which interrupts all of them"};
	const rank_state state = s->ranks[rank].state;

	if (state == RANK_ARRIVED)
		*ret_absence = (rank_absence){0};
	else
		*ret_absence =
		    s->interrupted && state < RANK_ARRIVED ? interrupted : absences[state];
	rank_path(s, rank, true, ret, size);
	return state == RANK_ARRIVED;
}

int rank_server_fd(const rank_server *s, uint32_t rank)
{
	for (size_t i = 0; i < s->rows; i++)
		if (s->connections[i].fd >= 0 && s->connections[i].rank == rank &&
		    s->ranks[rank].state == RANK_ARRIVED)
			return s->connections[i].fd;
	return -1;
}

bool rank_server_trace(const rank_server *s, uint32_t rank, char *ret, size_t size)
{
	const rank_row *row = &s->ranks[rank];

	if (row->state != RANK_ARRIVED || row->trace_bytes == 0 || row->trace_lost)
		return false;
	rank_path(s, rank, false, ret, size);
	return true;
}

void rank_server_stop(rank_server *s)
{
	if (!s)
		return;
	rank_server_close(s);
	for (size_t i = 0; s->connections && i < s->rows; i++)
		if (s->connections[i].fd >= 0 && s->listening >= 0)
			rank_connection_close(s, &s->connections[i]);
	if (s->listening >= 0) {
		os_close(s->listening);
		rank_meeting_end(s->meeting);
	}
	os_events_close(&s->events);
	pthread_mutex_destroy(&s->lock);
	mem_free(s->connections);
	mem_free(s->ranks);
	mem_free(s);
}
