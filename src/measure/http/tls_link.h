/* tls_link.h - a connection with TLS, by libcurl, which is loaded at the first use: libcurl makes
 * the connection and the handshake, and then passes bytes; HTTP and its times stay this program's.
 *
 *	DCK_TRY(tls_load(err));
 *	DCK_TRY(tls_link_open(&address, 5000, &link, err));
 *	... tls_link_fd(link) becomes readable ...
 *	n = tls_link_receive(link, bytes, sizeof bytes); // until OS_NET_AGAIN
 *	tls_link_close(link);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_TLS_LINK_H
#define HTTP_TLS_LINK_H

#include "deepclock/base.h"

typedef struct tls_address {
	const char *authority;
	const char *cacert; /* PEM; NULL: the system's authorities */
} tls_address;

typedef struct tls_link tls_link;

/* Loads libcurl. E_ABSENT: it is missing, or has no TLS. */
dck_status tls_load(dck_err *err);
/* Returns "libcurl/7.88.1 OpenSSL/3.0.19"; static. After tls_load(). */
const char *tls_version(void);
/* Connects, waits for the handshake, and verifies the certificate. *ret is owned. E_IO; E_ABSENT:
 * `cacert` cannot be read. */
dck_status tls_link_open(const tls_address *to, long timeout_ms, tls_link **ret, dck_err *err);
void tls_link_close(tls_link *k); /* NULL is allowed */
int tls_link_fd(const tls_link *k);
/* As os_net_receive() and os_net_send(). A readable socket may have several pieces: receive until
 * OS_NET_AGAIN. */
ptrdiff_t tls_link_receive(tls_link *k, void *to, size_t n);
ptrdiff_t tls_link_send(tls_link *k, const void *from, size_t n);

#endif
