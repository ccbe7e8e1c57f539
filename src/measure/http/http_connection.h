/* http_connection.h - a connection of the client, for the files of this directory alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include "measure/http/http_client.h"
#include "measure/http/http_reader.h"
#include "measure/http/sse_reader.h"
#include "measure/http/tls_link.h"

#define HTTP_QUOTE_MAX 2048

struct http_connection {
	http_connection *below; /* in the stack of idle connections */
	int fd;			/* -1: closed */
	tls_link *tls;		/* owned, and the socket with it; NULL: plain */
	bool busy, pending;	/* with a request; not established yet */
	uint64_t rest_ns;	/* of the last failures in a row; 0: none */
	uint64_t rest_until_ns; /* 0: it does not rest */
	size_t index;		/* of the answer */
	dck_buffer out;		/* the request */
	size_t sent;
	bool unsent; /* the rest cannot be sent: the server closed the connection */
	bool served; /* it has an answer of an earlier request */
	http_reader reader;
	sse_reader events;
	uint64_t body_bytes, last_ns; /* last_ns: of the last chunk with content */
	double *gaps;		      /* owned */
	size_t ngaps, gaps_cap;
	/* Of the last read: when its last bytes arrived, by how much later they were read (-1:
	 * unknown), and the events in it. */
	uint64_t arrival_ns;
	int64_t late_ns;
	size_t nevents;
	bool blank;    /* the last token had no text */
	bool stopped;  /* another finish_reason than "length" */
	bool finished; /* any finish_reason, or [DONE] */
	char quote[HTTP_QUOTE_MAX];
	size_t nquote;
};

typedef enum http_progress { HTTP_GOES_ON, HTTP_COMPLETE, HTTP_FAILED } http_progress;

/* Starts to read an answer. */
void http_answer_begin(http_connection *k);
/* Reads the n bytes of the last read; n 0: the connection was closed. HTTP_FAILED: *ret is the
 * outcome, and `why` has the message. HTTP_COMPLETE: *ret too. */
http_progress http_answer_read(http_client *c, http_connection *k, const uint8_t *bytes, size_t n,
			       http_outcome *ret, dck_err *why);

#endif
