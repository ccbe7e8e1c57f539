/* rank_meeting.h - where the ranks of a job find rank 0, and the token by which it knows them.
 *
 * On one node rank 0 listens on the loopback interface, on any free port, and publishes host, port
 * and token in a file that only its user can read, whose name follows from the job. With
 * --rendezvous FILE that is the name, in a directory that all nodes share. With HOST:PORT, or on
 * several nodes whose launcher reports the host of rank 0, there is no file: rank 0 listens on that
 * host's address, and the token is a hash of $DEEPCLOCK_RANKS_TOKEN and the job's id.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_MEETING_H
#define RANKS_RANK_MEETING_H

#include "os/os.h"

enum { RANK_TOKEN_SIZE = 33 };

typedef struct rank_meeting {
	char file[4096]; /* "": none */
	char host[256];	 /* where rank 0 listens */
	uint16_t port;	 /* 0: any, published in the file */
	char token[RANK_TOKEN_SIZE];
} rank_meeting;

/* given: --rendezvous, NULL: none. E_ARG: it is neither a file nor a host with a port; E_UNSUP:
 * rank 0 cannot be found from the launcher's variables. */
dck_status rank_meeting_choose(const os_job *job, const char *given, rank_meeting *ret,
			       dck_err *err);
/* For rank 0, which listens on m->port: writes the file, if there is one, with a new token. */
dck_status rank_meeting_publish(rank_meeting *m, dck_err *err);
/* For the others: reads host, port and token. false: nothing is published yet. */
bool rank_meeting_read(rank_meeting *m);
void rank_meeting_end(const rank_meeting *m); /* removes rank 0's file */

#endif
