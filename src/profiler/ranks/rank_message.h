/* rank_message.h - messages between a rank and rank 0: a head, and `bytes` of content.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_MESSAGE_H
#define RANKS_RANK_MESSAGE_H

#include "profiler/ranks/rank_meeting.h"

typedef enum rank_message_kind {
	RANK_HELLO = 1, /* rank_hello, from the rank; answered by RANK_WELCOME */
	RANK_WELCOME,
	RANK_PING,   /* int64_t: time stamp 1 */
	RANK_PONG,   /* int64_t[3]: time stamps 1, 2 and 3 */
	RANK_RESULT, /* rank_part.h; answered by RANK_DONE */
	RANK_DONE,
	RANK_TRACE,  /* the next bytes of the rank's trace, before RANK_RESULT; not answered */
	RANK_READY,  /* as RANK_RESULT, not answered: the rank takes part in a check (rank_check.h)
		      */
	RANK_KERNEL, /* from rank 0; answered by RANK_TIMES: double[RANK_KERNELS], in ns */
	RANK_TIMES,
	RANK_ECHO, /* from rank 0; answered by the same */
	RANK_END,  /* from rank 0: the check is over */
	RANK_TAKEN /* answers RANK_HELLO: another connection has that rank */
} rank_message_kind;

typedef struct rank_head {
	uint32_t kind, bytes;
} rank_head;

typedef struct rank_hello {
	char token[RANK_TOKEN_SIZE - 1];
	uint32_t rank;
} rank_hello;

enum { RANK_SMALL_MAX = 64, RANK_RESULT_MAX = 256 << 20, RANK_CHUNK_MAX = 1 << 20 };
/* Bytes of a rank's trace. */
#define RANK_TRACE_MAX (UINT64_C(4) << 30)

/* Send and receive a whole message of that kind and size; false: the connection is of no more use.
 */
bool rank_message_send(int fd, rank_message_kind kind, const void *content, size_t n,
		       uint64_t deadline_ns);
bool rank_message_receive(int fd, rank_message_kind kind, void *content, size_t n,
			  uint64_t deadline_ns);
/* Receives a message without content. Returns its kind; 0: none came. */
uint32_t rank_message_kind_receive(int fd, uint64_t deadline_ns);

#endif
