/* network.h - TCP sockets that never block, a queue of their events, and a timer in that queue.
 *
 *	os_events q;
 *
 *	DCK_TRY(os_events_open(&q, err));
 *	DCK_TRY(os_net_dial("head", "4711", 5000, NULL, &fd, err));
 *	os_events_add(&q, fd, key);
 *	n = os_events_wait(&q, 50, events, 64);
 *	os_events_close(&q);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_NETWORK_H
#define OS_NETWORK_H

#include "deepclock/base.h"

enum { OS_NET_ADDRESSES = 8, OS_NET_AGAIN = -1, OS_NET_FAILED = -2 };

typedef struct os_net_address {
	_Alignas(8) unsigned char bytes[128];
	unsigned n;
} os_net_address;

/* Starts a connection without delay of small writes. *ret_pending: it is not established yet, and
 * the socket becomes writable when it is. -1: see errno. */
int os_net_connect(const os_net_address *to, bool *ret_pending);
/* Returns 0 if this process may open n more descriptors, else why not (errno): a library that opens
 * some may hide the reason. */
enum { OS_NET_LACK_MAX = 8 };
int os_net_lack(unsigned n);
/* Returns the error of a connection that was pending; 0: it is established. */
int os_net_error(int fd);
/* Connects to the first address of the host that accepts; all together have `timeout_ms`, since a
 * host that drops packets never answers. The addresses share it equally. *ret: the address; may be
 * NULL. E_ABSENT: no such host; E_IO: none accepts. */
dck_status os_net_dial(const char *host, const char *port, int timeout_ms, os_net_address *ret,
		       int *ret_fd, dck_err *err);
/* Listens on the address of `host` alone; port "0": any. E_ABSENT: no such host; E_IO: the port is
 * in use, or the address is not this machine's. */
dck_status os_net_listen(const char *host, const char *port, os_net_address *ret, int *ret_fd,
			 dck_err *err);
uint16_t os_net_port(const os_net_address *of);
int os_net_accept(int fd); /* -1: no connection waits */
/* Return the bytes transferred, 0 at the end of the input, OS_NET_AGAIN, or OS_NET_FAILED. */
ptrdiff_t os_net_receive(int fd, void *to, size_t n);
/* The same, and *ret_late_ns: how long before this call the last of the bytes had arrived, by the
 * kernel's time stamp; -1: unknown. Of a connection that os_net_connect() made. */
ptrdiff_t os_net_receive_late(int fd, void *to, size_t n, int64_t *ret_late_ns);
ptrdiff_t os_net_send(int fd, const void *from, size_t n);
/* Transfer n bytes; false: the other end is closed, or the time (of os_now_ns()) is over. */
bool os_net_receive_all(int fd, void *to, size_t n, uint64_t deadline_ns);
bool os_net_send_all(int fd, const void *from, size_t n, uint64_t deadline_ns);

typedef struct os_events {
	int queue, timer;
} os_events;

typedef struct os_event {
	void *key; /* NULL: the timer */
	bool readable, writable;
} os_event;

enum { OS_EVENTS_MAX = 64 };

dck_status os_events_open(os_events *ret, dck_err *err);
void os_events_close(os_events *q);
/* Adds a socket; reading is watched always, writing if `writing`. false: see errno. */
bool os_events_add(const os_events *q, int fd, void *key, bool writing);
void os_events_change(const os_events *q, int fd, void *key, bool writing);
/* Sets the timer to expire once, in `ns`; 0: never. */
void os_events_timer(const os_events *q, uint64_t ns);
/* Waits for at most timeout_ms (0: not at all); returns the number of events. */
size_t os_events_wait(const os_events *q, int timeout_ms, os_event ret[OS_EVENTS_MAX]);

#endif
