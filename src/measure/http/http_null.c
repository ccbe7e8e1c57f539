/* http_null.c - the null server: an event loop in a thread.
 *
 * It reads the head of a request up to its empty line, skips as many bytes as Content-Length has,
 * and sends the answer that was made when it started, without parsing more. A connection has memory
 * for one head; one that does not fit, or a body above REQUEST_MAX, closes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/http_null.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "os/os.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS_MAX 256
#define REQUEST_MAX	(64u << 20) /* bytes */
#define WAIT_MS		20
#define HEAD_MAX	65536

typedef struct null_connection {
	int fd;
	char head[HEAD_MAX + 1];
	size_t n;      /* of the head */
	uint64_t left; /* of the body */
	bool in_body;
	size_t unsent; /* of the answer */
} null_connection;

struct http_null {
	pthread_t thread;
	atomic_bool stop;
	int listener;
	os_events events;
	dck_buffer answer;
	null_connection *connections[CONNECTIONS_MAX];
	size_t n;
	char bytes[65536];
};

static dck_status answer_make(uint64_t events, bool chat, dck_buffer *to, dck_err *err)
{
	dck_buffer body = {0};
	dck_sink s;
	dck_status status;

	dck_sink_buffer(&s, &body);
	for (uint64_t i = 0; i < events; i++)
		sink_text(&s, chat ? "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
				   : "data: {\"choices\":[{\"text\":\"a\"}]}\n\n");
	sink_text(&s, events > 0 ? "data: [DONE]\n\n" : "{\"outputs\":[]}");
	status = dck_sink_finish(&s, err);
	if (status == DCK_OK) {
		dck_sink_buffer(&s, to);
		sink_fmt(&s, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
			 events > 0 ? "text/event-stream" : "application/json", body.n);
		sink_put(&s, body.data, body.n);
		status = dck_sink_finish(&s, err);
	}
	dck_buffer_done(&body);
	return status;
}

static void null_connection_close(null_connection *k)
{
	if (k->fd >= 0)
		os_close(k->fd);
	k->fd = -1;
}

static void null_answer(http_null *s, null_connection *k)
{
	const char *at = s->answer.data + s->answer.n - k->unsent;
	const ptrdiff_t n = os_net_send(k->fd, at, k->unsent);

	if (n == OS_NET_FAILED) {
		null_connection_close(k);
		return;
	}
	k->unsent -= n > 0 ? (size_t)n : 0;
	os_events_change(&s->events, k->fd, k, k->unsent > 0);
}

/* Takes bytes of the head; ends it where they have its end. Returns the bytes taken. */
static size_t null_head(null_connection *k, const char *bytes, size_t n)
{
	static const char length[] = "\r\nContent-Length: ";
	const size_t before = k->n;
	const size_t most = HEAD_MAX - before < n ? HEAD_MAX - before : n;
	const char *end, *at;

	memcpy(k->head + before, bytes, most);
	k->n += most;
	k->head[k->n] = '\0';
	end = strstr(k->head, "\r\n\r\n");
	if (!end)
		return most;
	at = strstr(k->head, length);
	k->left = at && at < end ? strtoull(at + strlen(length), NULL, 10) : 0;
	k->in_body = true;
	k->n = 0;
	return (size_t)(end + 4 - k->head) - before;
}

static void null_take(http_null *s, null_connection *k, const char *bytes, size_t n)
{
	while (k->fd >= 0 && (n > 0 || (k->in_body && k->left == 0))) {
		if (!k->in_body) {
			const size_t taken = null_head(k, bytes, n);

			bytes += taken;
			n -= taken;
			if (taken == 0 || k->left > REQUEST_MAX)
				null_connection_close(k);
			continue;
		}
		const size_t part = k->left < n ? (size_t)k->left : n;

		bytes += part;
		n -= part;
		k->left -= part;
		if (k->left > 0)
			continue;
		k->in_body = false;
		k->unsent = s->answer.n;
		null_answer(s, k);
	}
}

static void null_accept(http_null *s)
{
	int fd;

	while ((fd = os_net_accept(s->listener)) >= 0) {
		null_connection *k = NULL;

		for (size_t i = 0; i < s->n && !k; i++)
			if (s->connections[i]->fd < 0)
				k = s->connections[i];
		if (!k && s->n < CONNECTIONS_MAX && (k = mem_zalloc(1, sizeof *k)))
			s->connections[s->n++] = k;
		if (!k || !os_events_add(&s->events, fd, k, false)) {
			os_close(fd);
			continue;
		}
		k->fd = fd;
		k->n = k->unsent = 0;
		k->in_body = false;
	}
}

static void *null_main(void *self)
{
	http_null *s = self;
	os_event e[OS_EVENTS_MAX];

	while (!atomic_load(&s->stop)) {
		const size_t n = os_events_wait(&s->events, WAIT_MS, e);

		for (size_t i = 0; i < n; i++) {
			null_connection *k = e[i].key;
			ptrdiff_t got;

			if (e[i].key == s) {
				null_accept(s);
				continue;
			}
			if (!k || k->fd < 0)
				continue;
			if (e[i].writable && k->unsent > 0)
				null_answer(s, k);
			if (!e[i].readable || k->fd < 0)
				continue;
			got = os_net_receive(k->fd, s->bytes, sizeof s->bytes);
			if (got > 0)
				null_take(s, k, s->bytes, (size_t)got);
			else if (got != OS_NET_AGAIN)
				null_connection_close(k);
		}
	}
	return NULL;
}

static void null_free(http_null *s)
{
	for (size_t i = 0; i < s->n; i++) {
		null_connection_close(s->connections[i]);
		mem_free(s->connections[i]);
	}
	if (s->listener >= 0)
		os_close(s->listener);
	os_events_close(&s->events);
	dck_buffer_done(&s->answer);
	mem_free(s);
}

static dck_status null_server_open(http_null *s, uint64_t events, bool chat,
				   os_net_address *ret_address, dck_err *err)
{
	DCK_TRY(answer_make(events, chat, &s->answer, err));
	DCK_TRY(os_events_open(&s->events, err));
	DCK_TRY(os_net_listen("127.0.0.1", "0", ret_address, &s->listener, err));
	if (!os_events_add(&s->events, s->listener, s, false))
		DCK_FAIL(err, E_IO, "cannot listen on 127.0.0.1 for the client's own floor");
	if (pthread_create(&s->thread, NULL, null_main, s))
		DCK_FAIL(err, E_NOMEM, "cannot make a thread for the null server");
	return DCK_OK;
}

dck_status http_null_start(uint64_t events, bool chat, http_null **ret, os_net_address *ret_address,
			   dck_err *err)
{
	http_null *s = mem_zalloc(1, sizeof *s);
	dck_status status;

	DCK_NEED(s, err, "for the null server");
	s->listener = -1;
	s->events = (os_events){-1, -1};
	status = null_server_open(s, events, chat, ret_address, err);
	if (status == DCK_OK)
		*ret = s;
	else
		null_free(s);
	return status;
}

void http_null_stop(http_null *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
	null_free(s);
}
