/* http_null.h - the null server: a thread that answers every request at once with the same bytes,
 * on 127.0.0.1. What a client measures of it is the client's own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_NULL_H
#define HTTP_NULL_H

#include "os/net/network.h"

typedef struct http_null http_null;

/* Starts it. `events` n: its answers are streams of n chunks; 0: JSON without tensors. */
dck_status http_null_start(uint64_t events, bool chat, http_null **ret, os_net_address *ret_address,
			   dck_err *err);
void http_null_stop(http_null *s); /* NULL is allowed */

#endif
