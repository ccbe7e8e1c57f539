/* http_client.c - the loop of the client: an event loop over epoll, with the arrivals on its timer.
 *
 * Each turn starts the requests that are due, waits for events or the next arrival, and reads what
 * has come. The timer wakes the loop shortly before an arrival and the loop spins until then, where
 * a second processor is free, because the kernel wakes a sleeper some 50 us late. Deadlines are
 * scanned when the earliest may have passed.
 *
 * Invariants: a connection is busy with one request, or in the stack `idle`, where it may be
 * closed, or it rests after a failure; answers are in the order of their starts, which is that of
 * the schedule; nothing is allocated between the start of a request and its end except to enlarge a
 * connection's buffers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/http_client.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/sink.h"
#include "base/units.h"
#include "measure/http/http_connection.h"
#include "measure/http/http_url.h"
#include "os/os.h"
#include <errno.h>
#include <string.h>

#define READ_BYTES     65536
#define POLL_MS	       50      /* how often cancellation and deadlines are checked */
#define SPIN_NS	       100000u /* before an arrival */
#define TLS_CONNECT_MS 5000
#define REST_LEAST_NS  UINT64_C(10000000)   /* after a failed connection, in a closed loop */
#define REST_MOST_NS   UINT64_C(1000000000) /* it doubles up to this */

static uint64_t client_now(const http_client *c)
{
	return c->clock->now_ns(c->clock->self);
}

static void connection_close(http_connection *k)
{
	if (k->tls)
		tls_link_close(k->tls);
	else if (k->fd >= 0)
		os_close(k->fd);
	k->tls = NULL;
	k->fd = -1;
	k->served = false;
}

dck_status http_client_open(http_client *c, dck_err *err)
{
	c->connections = os_pages_reserve(HTTP_IN_FLIGHT_MAX * sizeof *c->connections);
	c->answers = os_pages_reserve(HTTP_ANSWERS_MAX * sizeof *c->answers);
	c->gaps = os_pages_reserve(HTTP_GAPS_MAX * sizeof *c->gaps);
	c->bytes = mem_alloc(READ_BYTES);
	c->events = (os_events){-1, -1};
	os_descriptors_raise();
	if (c->connections && c->answers && c->gaps && c->bytes &&
	    os_events_open(&c->events, err) == DCK_OK)
		return DCK_OK;
	const bool memory = c->connections && c->answers && c->gaps && c->bytes;

	http_client_close(c);
	return memory ? DCK_E_IO : ERR_NO_MEMORY(err, "for the requests");
}

void http_client_close(http_client *c)
{
	if (c->events.queue <= 0 && !c->connections && !c->bytes && !c->answers && !c->gaps)
		return;
	for (size_t i = 0; c->connections && i < c->opened; i++) {
		http_connection *k = &c->connections[i];

		connection_close(k);
		sse_reader_done(&k->events);
		dck_buffer_done(&k->out);
		mem_free(k->gaps);
	}
	os_pages_free(c->connections, HTTP_IN_FLIGHT_MAX * sizeof *c->connections);
	os_pages_free(c->answers, HTTP_ANSWERS_MAX * sizeof *c->answers);
	os_pages_free(c->gaps, HTTP_GAPS_MAX * sizeof *c->gaps);
	mem_free(c->bytes);
	dck_buffer_done(&c->next);
	dck_buffer_done(&c->text);
	os_events_close(&c->events);
	c->connections = c->idle = NULL;
	c->answers = NULL;
	c->gaps = NULL;
	c->bytes = NULL;
	c->opened = c->n = 0;
}

static void connection_idle(http_client *c, http_connection *k)
{
	k->below = c->idle;
	c->idle = k;
}

/* --- the rest of a connection that failed, so that a closed loop on a dead server does not spin */

static void connection_rest(http_client *c, http_connection *k)
{
	k->rest_ns = k->rest_ns == 0		     ? REST_LEAST_NS
		     : k->rest_ns < REST_MOST_NS / 2 ? 2 * k->rest_ns
						     : REST_MOST_NS;
	k->rest_until_ns = client_now(c) + k->rest_ns;
	c->resting++;
	if (k->rest_until_ns < c->next_rest_ns)
		c->next_rest_ns = k->rest_until_ns;
}

/* Ends the rests that are over, or all. */
static void rests_end(http_client *c, uint64_t now_ns, bool all)
{
	c->next_rest_ns = UINT64_MAX;
	for (size_t i = 0; i < c->opened && c->resting > 0; i++) {
		http_connection *k = &c->connections[i];

		if (k->rest_until_ns == 0)
			continue;
		if (!all && k->rest_until_ns > now_ns) {
			if (k->rest_until_ns < c->next_rest_ns)
				c->next_rest_ns = k->rest_until_ns;
			continue;
		}
		k->rest_until_ns = 0;
		c->resting--;
		connection_idle(c, k);
	}
}

/* --- a request */

static dck_status request_write(http_client *c, const dck_buffer *body, dck_err *err)
{
	dck_sink s;

	c->next.n = 0;
	dck_sink_buffer(&s, &c->next);
	sink_fmt(&s,
		 "%s %s HTTP/1.1\r\nHost: %s\r\n%sAccept: %s\r\n"
		 "Accept-Encoding: identity\r\n%s",
		 c->get ? "GET" : "POST", c->path, c->authority,
		 http_headers_have(c->headers, "User-Agent") ? "" : "User-Agent: deepclock\r\n",
		 c->stream ? "text/event-stream"
		 : c->get  ? "*/*"
			   : "application/json",
		 c->headers ? c->headers : "");
	if (!c->get)
		sink_fmt(&s, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body->n);
	sink_text(&s, "\r\n");
	if (body->n > 0)
		sink_put(&s, body->data, body->n);
	return dck_sink_finish(&s, err);
}

/* Makes the next request, before it is due. */
static dck_status request_prepare(http_client *c, dck_err *err)
{
	dck_buffer body = {0};
	dck_status status = DCK_OK;

	if (!c->get)
		status = c->body(c->self, c->made, &body, err);
	DCK_NEXT(status, request_write(c, &body, err));
	dck_buffer_done(&body);
	c->made += !c->get;
	return status;
}

static void gaps_keep(http_client *c, const http_connection *k, http_answer *a)
{
	if (c->ngaps + k->ngaps > HTTP_GAPS_MAX) {
		c->gaps_dropped += k->ngaps;
		return;
	}
	a->gaps_at = c->ngaps;
	a->ngaps = k->ngaps;
	if (k->ngaps > 0)
		memcpy(c->gaps + c->ngaps, k->gaps, k->ngaps * sizeof *k->gaps);
	c->ngaps += k->ngaps;
}

static void timeout_set(const http_client *c, dck_err *why)
{
	ERR_SET(
	    why, E_IO,
	    "a request was not answered completely within %s (--timeout): give a longer one, or "
	    "look at the server",
	    UNITS_TIME((double)c->timeout_ns));
}

static void request_finish(http_client *c, http_connection *k, http_outcome outcome,
			   const dck_err *why)
{
	http_answer *a = &c->answers[k->index];
	dck_err late = {0};

	if (http_outcome_is_good(outcome) && a->end_ns > a->scheduled_ns + c->timeout_ns) {
		outcome = HTTP_TIMED_OUT;
		timeout_set(c, &late);
		why = &late;
	}
	const bool good = http_outcome_is_good(outcome);

	a->outcome = outcome;
	c->answered |= good;
	if (good)
		gaps_keep(c, k, a);
	else if (c->why.code == DCK_OK && why)
		c->why = *why;
	k->served = true;
	if (!(good || outcome == HTTP_STATUS) || !k->reader.keep || k->sent < k->out.n)
		connection_close(k);
	k->busy = false;
	c->in_flight--;
	if (a->first_byte_ns > 0)
		k->rest_ns = 0;
	else if (c->rests && (outcome == HTTP_REFUSED || outcome == HTTP_CUT)) {
		connection_rest(c, k);
		return;
	}
	connection_idle(c, k);
}

static void request_fail(http_client *c, http_connection *k, http_outcome outcome,
			 const char *message)
{
	dck_err why = {0};

	err_set(&why, outcome == HTTP_CANCELLED ? DCK_E_CANCEL : DCK_E_IO, __FILE__, __LINE__, "%s",
		message);
	request_finish(c, k, outcome, &why);
}

static void request_late(http_client *c, http_connection *k)
{
	dck_err why = {0};

	timeout_set(c, &why);
	request_finish(c, k, HTTP_TIMED_OUT, &why);
}

/* Returns whether an error of a connection is a limit of this machine, whatever the server does. */
static bool errno_is_ours(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == EADDRNOTAVAIL ||
	       errnum == ENOBUFS || errnum == ENOMEM || errnum == ENOSPC;
}

static void connect_fail(http_client *c, http_connection *k, int errnum)
{
	dck_err why = {0};

	err_set_errno(&why, DCK_E_IO, __FILE__, __LINE__, errnum, "cannot connect to the server");
	if (errno_is_ours(errnum) && c->limit.code == DCK_OK)
		c->limit = why;
	request_finish(c, k, HTTP_REFUSED, &why);
}

static void connect_plain(http_client *c, http_connection *k)
{
	int why;

	k->fd = os_net_connect(&c->address, &k->pending);
	if (k->fd >= 0 && os_events_add(&c->events, k->fd, k, k->pending))
		return;
	why = errno;
	connection_close(k);
	connect_fail(c, k, why);
}

/* Makes a connection with TLS, which waits for the handshake. */
static dck_status tls_connect(http_client *c, http_connection *k, dck_err *err)
{
	const tls_address to = {c->authority, c->cacert};

	DCK_TRY(tls_link_open(&to, TLS_CONNECT_MS, &k->tls, err));
	k->fd = tls_link_fd(k->tls);
	k->pending = false;
	if (os_events_add(&c->events, k->fd, k, false))
		return DCK_OK;
	const int why = errno;

	connection_close(k);
	DCK_FAIL_ERRNO(err, E_IO, why, "cannot watch a connection");
}

static void connect_tls(http_client *c, http_connection *k)
{
	dck_err why = {0};

	if (tls_connect(c, k, &why) == DCK_OK)
		return;
	if (errno_is_ours((int)why.native_code))
		connect_fail(c, k, (int)why.native_code);
	else
		request_finish(c, k, HTTP_REFUSED, &why);
}

static void request_send(http_client *c, http_connection *k)
{
	http_answer *a = &c->answers[k->index];
	const bool first = k->sent == 0;
	ptrdiff_t n;

	if (first)
		a->sent_ns = k->arrival_ns = client_now(c);
	n = k->tls ? tls_link_send(k->tls, k->out.data + k->sent, k->out.n - k->sent)
		   : os_net_send(k->fd, k->out.data + k->sent, k->out.n - k->sent);
	k->unsent = n == OS_NET_FAILED; /* what it answered before is read next */
	k->sent += n > 0 ? (size_t)n : 0;
	/* Writing is watched only while something is left to write. */
	if (k->sent < k->out.n || !first || k->pending)
		os_events_change(&c->events, k->fd, k, k->sent < k->out.n && !k->unsent);
	k->pending = false;
}

/* Sends the request of a connection, which it makes if there is none. */
static void request_go(http_client *c, http_connection *k)
{
	k->sent = 0;
	k->unsent = false;
	if (k->fd < 0 && c->tls)
		connect_tls(c, k);
	else if (k->fd < 0)
		connect_plain(c, k);
	if (k->busy && !k->pending)
		request_send(c, k);
}

static http_connection *connection_take(http_client *c)
{
	http_connection *k = c->idle;

	if (k) {
		c->idle = k->below;
		return k;
	}
	k = &c->connections[c->opened++];
	k->fd = -1;
	return k;
}

static dck_status request_start(http_client *c, const http_plan *plan, dck_err *err)
{
	http_connection *k = connection_take(c);
	http_answer *a = &c->answers[c->n];
	const dck_buffer spent = k->out;

	*a = (http_answer){.begin_ns = client_now(c), .first_late_ns = -1, .end_late_ns = -1};
	k->late_ns = -1;
	a->scheduled_ns = plan->due_ns ? c->start_ns + (uint64_t)plan->due_ns[c->n] : a->begin_ns;
	if (a->scheduled_ns + c->timeout_ns < c->next_deadline_ns)
		c->next_deadline_ns = a->scheduled_ns + c->timeout_ns;
	k->index = c->n++;
	k->busy = true;
	k->out = c->next;
	c->next = spent;
	http_answer_begin(k);
	c->in_flight++;
	c->in_flight_max = c->in_flight > c->in_flight_max ? c->in_flight : c->in_flight_max;
	request_go(c, k);
	return plan->n > 0 && c->n >= plan->n ? DCK_OK : request_prepare(c, err);
}

/* --- events */

/* Stores when the bytes of a read arrived: by the kernel's time stamp, if there is one, as the
 * client reads up to 0.1 ms later. The system's clock may be set in between; an arrival is never
 * before the one that was read before, or the request. */
static void connection_arrival(const http_client *c, http_connection *k)
{
	const uint64_t read_ns = client_now(c), before_ns = k->arrival_ns;
	const uint64_t late_ns = k->late_ns > 0 ? (uint64_t)k->late_ns : 0;

	k->arrival_ns = late_ns < read_ns - before_ns ? read_ns - late_ns : before_ns;
	k->nevents = 0;
}

/* The server closed the connection before any byte of an answer. It may close one that rests at any
 * time, and then it has not taken the request. */
static void request_unanswered(http_client *c, http_connection *k)
{
	if (k->served) {
		connection_close(k);
		c->resent++;
		request_go(c, k);
		return;
	}
	request_fail(c, k, HTTP_CUT,
		     k->unsent ? "the server closed the connection before the request was sent"
			       : "the server closed the connection without an answer");
}

/* Returns whether more may be there, which only connections with TLS have. */
static bool connection_read(http_client *c, http_connection *k)
{
	const ptrdiff_t n = k->tls ? tls_link_receive(k->tls, c->bytes, READ_BYTES)
				   : os_net_receive_late(k->fd, c->bytes, READ_BYTES, &k->late_ns);
	http_answer *a = &c->answers[k->index];
	http_outcome outcome;
	http_progress p;
	dck_err why = {0};

	if (n == OS_NET_AGAIN && !k->unsent)
		return false;
	if (!k->busy) {
		connection_close(k); /* the server closed it, or sent what nothing asked for */
		return false;
	}
	if (n <= 0 && a->first_byte_ns == 0) {
		request_unanswered(c, k);
		return false;
	}
	connection_arrival(c, k); /* before anything is parsed */
	if (n > 0 && a->first_byte_ns == 0)
		a->first_byte_ns = k->arrival_ns;
	p = http_answer_read(c, k, c->bytes, n > 0 ? (size_t)n : 0, &outcome, &why);
	if (p != HTTP_GOES_ON)
		request_finish(c, k, outcome, &why);
	return k->tls && k->busy;
}

static void event_handle(http_client *c, const os_event *e)
{
	http_connection *k = e->key;

	if (!k || k->fd < 0)
		return; /* the timer, or closed by an event before */
	if (k->busy && k->pending && (e->writable || e->readable)) {
		const int why = os_net_error(k->fd);

		if (why) {
			connection_close(k);
			connect_fail(c, k, why);
			return;
		}
		request_send(c, k);
		return;
	}
	if (k->busy && e->writable && k->sent < k->out.n && !k->unsent)
		request_send(c, k);
	if ((e->readable || k->unsent) && k->fd >= 0)
		while (connection_read(c, k))
			;
}

/* Gives up the requests whose deadline has passed, or all. */
static void requests_end(http_client *c, uint64_t now_ns, bool all)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < c->opened; i++) {
		http_connection *k = &c->connections[i];
		uint64_t deadline;

		if (!k->busy)
			continue;
		deadline = c->answers[k->index].scheduled_ns + c->timeout_ns;
		if (all)
			request_fail(c, k, HTTP_CANCELLED, "interrupted");
		else if (deadline <= now_ns)
			request_late(c, k);
		else if (deadline < next)
			next = deadline;
	}
	c->next_deadline_ns = next;
}

/* --- the loop */

typedef struct run_turn {
	const http_plan *plan;
	bool spins;
	bool ended;	       /* no request starts any more */
	uint64_t armed_for_ns; /* of the timer; 0: nothing */
} run_turn;

/* Returns whether another request is due now; *ret_next_ns: when the next one is, if not. */
static bool request_is_due(const http_client *c, run_turn *t, uint64_t now_ns,
			   uint64_t *ret_next_ns)
{
	const http_plan *p = t->plan;
	uint64_t due;

	*ret_next_ns = UINT64_MAX;
	if (t->ended || c->n == HTTP_ANSWERS_MAX || (p->n > 0 && c->n >= p->n)) {
		t->ended = true;
		return false;
	}
	if (!p->due_ns) {
		t->ended = c->n > 0 && now_ns - c->start_ns >= p->time_ns;
		*ret_next_ns = c->next_rest_ns;
		return !t->ended && c->in_flight + c->resting < p->connections;
	}
	due = c->start_ns + (uint64_t)p->due_ns[c->n];
	*ret_next_ns = due;
	return due <= now_ns;
}

static dck_status requests_start(http_client *c, run_turn *t, uint64_t *ret_next_ns, bool *ret_any,
				 dck_err *err)
{
	*ret_any = false;
	if (c->next_rest_ns <= client_now(c))
		rests_end(c, client_now(c), false);
	while (request_is_due(c, t, client_now(c), ret_next_ns)) {
		if (c->in_flight == t->plan->connections) {
			c->overrun = t->ended = true;
			break;
		}
		DCK_TRY(request_start(c, t->plan, err));
		*ret_any = true;
		/* What has arrived is read in between: a burst must not delay time stamps. */
		if (t->plan->due_ns)
			break;
	}
	return DCK_OK;
}

static int wait_time(http_client *c, run_turn *t, uint64_t now_ns, uint64_t next_ns)
{
	const uint64_t spin = t->spins ? SPIN_NS : 0;

	if (next_ns == UINT64_MAX)
		return POLL_MS;
	if (next_ns <= now_ns + spin)
		return 0;
	if (t->armed_for_ns != next_ns) {
		os_events_timer(&c->events, next_ns - now_ns - spin);
		t->armed_for_ns = next_ns;
	}
	return POLL_MS;
}

static dck_status turn_make(http_client *c, run_turn *t, dck_err *err)
{
	const uint64_t begin_ns = client_now(c);
	os_event events[OS_EVENTS_MAX];
	uint64_t next_ns, before_ns, after_ns;
	bool any;
	size_t n;

	DCK_TRY(requests_start(c, t, &next_ns, &any, err));
	before_ns = client_now(c);
	n = os_events_wait(&c->events, any ? 0 : wait_time(c, t, before_ns, next_ns), events);
	after_ns = client_now(c);
	c->idle_ns += after_ns - (n == 0 && !any ? begin_ns : before_ns);
	for (size_t i = 0; i < n; i++)
		event_handle(c, &events[i]);
	if (after_ns >= c->next_deadline_ns)
		requests_end(c, after_ns, false);
	return DCK_OK;
}

static void turn_watch(http_client *c, run_turn *t, uint64_t *last_ns)
{
	const uint64_t now_ns = client_now(c);

	if (now_ns - *last_ns < POLL_MS * UINT64_C(1000000))
		return;
	*last_ns = now_ns;
	if (c->progress)
		c->progress(c->progress_self, c->n - c->in_flight, now_ns - c->start_ns);
	if (!observer_cancelled(c->watch))
		return;
	c->cancelled = t->ended = true;
	requests_end(c, now_ns, true);
}

/* Makes the connections with TLS that the first requests will need, those again that the server has
 * closed since the last run. One that is refused is made again by the request that needs it, which
 * then has that outcome. */
static void connections_ready(http_client *c)
{
	os_event events[OS_EVENTS_MAX];
	size_t there = 0;

	for (size_t n = 1; c->tls && n > 0;) {
		n = os_events_wait(&c->events, 0, events);
		for (size_t i = 0; i < n; i++)
			event_handle(c, &events[i]);
	}
	for (http_connection *k = c->idle; c->tls && k && there < c->ready; k = k->below, there++)
		if (k->fd < 0 &&
		    (observer_cancelled(c->watch) || tls_connect(c, k, NULL) != DCK_OK))
			return;
	for (; c->tls && there < c->ready && c->opened < HTTP_IN_FLIGHT_MAX &&
	       !observer_cancelled(c->watch);
	     there++) {
		http_connection *k = &c->connections[c->opened++];

		k->fd = -1;
		connection_idle(c, k);
		if (tls_connect(c, k, NULL) != DCK_OK)
			return;
	}
}

dck_status http_client_run(http_client *c, const http_plan *plan, dck_err *err)
{
	run_turn t = {.plan = plan, .spins = os_cpus_allowed() > 1};
	dck_status status;
	uint64_t last_ns;

	c->n = c->ngaps = c->gaps_dropped = c->in_flight_max = 0;
	c->idle_ns = 0;
	c->overrun = c->cancelled = false;
	c->why = c->limit = (dck_err){0};
	c->resent = 0;
	c->text.n = 0;
	c->next_deadline_ns = c->next_rest_ns = UINT64_MAX;
	c->rests = !plan->due_ns && plan->time_ns != UINT64_MAX;
	for (size_t i = 0; i < c->opened; i++)
		c->connections[i].rest_ns = 0;
	connections_ready(c);
	DCK_TRY(request_prepare(c, err));
	c->start_ns = last_ns = client_now(c);
	do {
		status = turn_make(c, &t, err);
		turn_watch(c, &t, &last_ns);
	} while (status == DCK_OK && (!t.ended || c->in_flight > 0));
	c->wall_ns = client_now(c) - c->start_ns;
	if (status != DCK_OK)
		requests_end(c, 0, true);
	rests_end(c, 0, true);
	return status;
}

dck_status http_client_failed(const http_client *c, dck_err *err)
{
	return err_pass(c->why.code, &c->why, err);
}
