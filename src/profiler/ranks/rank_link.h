/* rank_link.h - the connections of the ranks to rank 0: clock exchanges while the programs run, and
 * the ranks' parts at the end.
 *
 *	rank 0:					another rank:
 *	rank_server_start(&m, size, ".", ...);	rank_client_start(&m, rank, &c, err);
 *	... the program runs ...		... the program runs ...
 *	rank_server_wait(s, deadline, ...);	rank_client_clock(c, wait, &e, &n);
 *	part = rank_server_part(s, r, ...);	rank_client_send(c, bytes, n, wait, err);
 *	rank_server_stop(s);			rank_client_stop(c);
 *
 * Each has one thread. A connection begins with the token; one without it is closed. Parts and
 * traces go to files of rank 0, so its memory does not depend on their sizes. A rank that is lost
 * costs its own part only.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_LINK_H
#define RANKS_RANK_LINK_H

#include "profiler/ranks/rank_clock.h"
#include "profiler/ranks/rank_meeting.h"

typedef struct rank_server rank_server;
typedef struct rank_client rank_client;

/* Why a rank's part did not come, and the remedy. */
typedef struct rank_absence {
	const char *why, *remedy;
} rank_absence;

/* Listens for the ranks 1 to size - 1. m is borrowed until the stop, and gets port and token. The
 * directory, borrowed, gets the files of parts and, if `traces`, of traces, which are else refused;
 * the caller removes them. *ret is owned: rank_server_stop(). E_IO: cannot listen or publish. */
dck_status rank_server_start(rank_meeting *m, uint32_t size, const char *directory, bool traces,
			     rank_server **ret, dck_err *err);
/* Waits until each rank's part has come or its connection has ended, or that time of os_now_ns();
 * from when cancelled(self) is true, for at most two seconds. */
void rank_server_wait(rank_server *s, uint64_t deadline_ns, bool (*cancelled)(void *self),
		      void *self);
/* Stops to receive; then writes the name of the file with a rank's part to ret[size]. false: it
 * did not come, and *ret_absence (static) has the reason. */
void rank_server_close(rank_server *s);
bool rank_server_part(const rank_server *s, uint32_t rank, char *ret, size_t size,
		      rank_absence *ret_absence);
/* After rank_server_close(): writes the name of the file with a rank's trace to ret[size]. false:
 * the trace did not come, or could not be stored. */
bool rank_server_trace(const rank_server *s, uint32_t rank, char *ret, size_t size);
/* After rank_server_close(): returns the connection of a rank that is ready for a check, borrowed;
 * -1: there is none. */
int rank_server_fd(const rank_server *s, uint32_t rank);
void rank_server_stop(rank_server *s); /* NULL is allowed */

/* Connects in the background, and repeats the clock exchange each second. *ret is owned:
 * rank_client_stop(). m is borrowed until then. */
dck_status rank_client_start(rank_meeting *m, uint32_t rank, rank_client **ret, dck_err *err);
/* Ends the exchanges with a last round, waiting for at most wait_ns for the connection. *ret is
 * borrowed until the stop. */
void rank_client_clock(rank_client *c, uint64_t wait_ns, const rank_exchange **ret, size_t *ret_n);
/* Sends the file of the rank's trace, before its part. E_IO: it cannot be read; a lost connection
 * is reported by rank_client_send(). */
dck_status rank_client_trace(rank_client *c, const char *path, uint64_t wait_ns, dck_err *err);
/* Sends the rank's part. E_IO: rank 0 cannot be reached. */
dck_status rank_client_send(rank_client *c, const void *bytes, size_t n, uint64_t wait_ns,
			    dck_err *err);
/* Sends the rank's part, and keeps the connection for a check. *ret_fd is borrowed until the stop.
 * E_IO as above. */
dck_status rank_client_ready(rank_client *c, const void *bytes, size_t n, uint64_t wait_ns,
			     int *ret_fd, dck_err *err);
void rank_client_stop(rank_client *c); /* NULL is allowed */

#endif
