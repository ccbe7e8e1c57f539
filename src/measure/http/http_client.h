/* http_client.h - the client of a load test: requests on a schedule that was made before, or one
 * after the other on several connections, and the times of each.
 *
 *	http_client c = {.address = a, .authority = "127.0.0.1:8000", .path = "/v1/completions",
 *			 .body = body, .self = self, .stream = true, ...};
 *
 *	DCK_TRY(http_client_open(&c, err));
 *	DCK_TRY(http_client_run(&c, &plan, err));
 *	... c.answers[0..c.n) ...
 *	http_client_close(&c);
 *
 * One thread does all: it starts what is due, waits for events, and takes the time at which the
 * bytes of a read arrived, by the kernel's time stamp or else the clock, before anything of them is
 * parsed. The body of the next request is made before it is due. A request in flight has a
 * connection for itself; connections are used again. A request on one that the server had closed,
 * without a byte of an answer, is sent once more on a new one (RFC 9112, section 9.5). The memory
 * of the results is reserved before the first request.
 *
 * With TLS the loop is the same, over connections of libcurl (tls_link.h). Their handshakes stop
 * the loop, which shows as lateness; `ready` makes the first ones before.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include "deepclock/bench.h"
#include "deepclock/report.h"
#include "os/net/network.h"

enum { HTTP_IN_FLIGHT_MAX = 4096, HTTP_ANSWERS_MAX = 1 << 20, HTTP_GAPS_MAX = 1 << 22 };

/* What became of a request. The order is that of the record. */
typedef enum http_outcome {
	HTTP_ANSWERED,
	HTTP_EARLY,	/* answered, and with fewer tokens than requested */
	HTTP_LONGER,	/* answered, and with more tokens than requested, as the server counts */
	HTTP_REFUSED,	/* no connection */
	HTTP_STATUS,	/* another status than 200: answer.status */
	HTTP_REDIRECT,	/* a status from 300 to 399 */
	HTTP_CUT,	/* the connection was closed in the middle, or the stream has no end */
	HTTP_TIMED_OUT, /* not complete at its deadline */
	HTTP_MALFORMED, /* not HTTP, not a stream of events, not JSON, too long, coded */
	HTTP_ERROR,	/* an error in the stream, or instead of the tensors */
	HTTP_EMPTY,	/* complete, and without content */
	HTTP_CANCELLED, /* given up by this program */
	HTTP_OUTCOMES
} http_outcome;
/* Returns "timed out", ...; static. */
const char *http_outcome_text(http_outcome o);
static inline bool http_outcome_is_good(http_outcome o)
{
	return o <= HTTP_LONGER;
}

/* A request and its answer. Times are of the client's clock; 0: it did not come to that. */
typedef struct http_answer {
	uint64_t scheduled_ns; /* in a closed loop: begin_ns */
	uint64_t begin_ns;     /* the client turned to it */
	uint64_t sent_ns;      /* its first bytes were handed to the system */
	uint64_t first_byte_ns, first_event_ns, first_content_ns;
	uint64_t end_ns; /* the last token, or the end of an answer that is not a stream */
	/* By which first_content_ns and end_ns may be later than the arrival: of chunks that were
	 * read together, the time from the last one's arrival to the read; -1: unknown. */
	int64_t first_late_ns, end_late_ns;
	uint64_t chunks;			       /* with content */
	uint64_t tokens, prompt_tokens, cached_tokens; /* as the server counts them */
	bool has_usage, has_cached;
	uint16_t status;
	http_outcome outcome;
	size_t gaps_at, ngaps; /* between chunks, in client.gaps */
} http_answer;

typedef struct http_plan {
	const double *due_ns; /* [n], from the start on, nondecreasing; NULL: a closed loop */
	uint64_t n;	      /* requests; in a closed loop at most, 0: no limit but the time's */
	uint64_t time_ns;     /* of a closed loop: none starts later */
	size_t connections;   /* of a closed loop; else the most in flight */
} http_plan;

typedef struct http_connection http_connection;

typedef struct http_client {
	/* Set by the caller, borrowed. */
	os_net_address address;
	const char *authority, *path;
	bool tls;	     /* by libcurl; a new connection waits for its handshake */
	const char *cacert;  /* of tls_address */
	size_t ready;	     /* with tls: connections that are made before the first request */
	const char *headers; /* lines with their ends; NULL: none */
	bool get;	     /* no body; what is answered is stored in `text` */
	bool stream;	     /* the answer is a stream of completions' events */
	uint64_t new_tokens; /* requested of each */
	uint64_t timeout_ns; /* from the scheduled time */
	uint64_t body_max;   /* bytes of one answer */
	bool quote;	     /* messages may quote the server: no credentials were sent */
	const dck_clock *clock;
	dck_status (*body)(void *self, uint64_t i, dck_buffer *to, dck_err *err);
	void *self;
	const dck_observer *watch;
	void (*progress)(void *progress_self, uint64_t done, uint64_t elapsed_ns); /* NULL: none */
	void *progress_self;
	/* Results of the last run. */
	http_answer *answers; /* [n], in the order of their scheduled times; owned */
	size_t n;
	double *gaps; /* owned */
	size_t ngaps, gaps_dropped;
	uint64_t start_ns, wall_ns, idle_ns; /* idle: it waited for events */
	size_t in_flight_max;
	bool overrun;	 /* more were due than connections are allowed */
	bool cancelled;	 /* by the observer */
	uint64_t resent; /* requests that were sent again on another connection */
	bool answered;	 /* a request was, in any run; the caller may reset it */
	bool sends_end;	 /* over all runs: a stream had a finish_reason or [DONE] */
	uint64_t made;	 /* bodies, over all runs: the number of the next prompt */
	dck_err why;	 /* of the first request that failed */
	dck_err limit;	 /* of the first that this machine's limits kept from being sent */
	dck_buffer text; /* of `get`: the body; owned */
	/* Private. */
	os_events events;
	http_connection *connections; /* [HTTP_IN_FLIGHT_MAX], reserved */
	http_connection *idle;	      /* a stack */
	size_t opened, in_flight;
	dck_buffer next; /* the next request, complete */
	bool rests; /* connections that fail; not where only the number of requests ends a run */
	size_t resting;
	uint64_t next_deadline_ns, next_rest_ns;
	uint8_t *bytes;
} http_client;

dck_status http_client_open(http_client *c, dck_err *err);
void http_client_close(http_client *c); /* {0} is allowed */
/* Makes the requests of a plan, and waits until each is answered or has failed. Fails only if a
 * request cannot be made: the others' failures are results. */
dck_status http_client_run(http_client *c, const http_plan *plan, dck_err *err);
/* Fails with the message of the first request that failed, if one did. */
dck_status http_client_failed(const http_client *c, dck_err *err);

#endif
