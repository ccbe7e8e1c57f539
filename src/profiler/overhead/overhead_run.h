/* overhead_run.h - one run of the command under one method.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OVERHEAD_OVERHEAD_RUN_H
#define OVERHEAD_OVERHEAD_RUN_H

#include "deepclock/overhead.h"

#include "base/mem.h"
#include "os/os.h"
#include "record/others.h"

enum { OVERHEAD_ROUNDS_MAX = 1000, OVERHEAD_NONE = 0, OVERHEAD_METHODS = 6 };

typedef struct overhead_way {
	const char *name;
	const char *command, *option; /* option: of the command; NULL: none */
	const char *file;	      /* output besides its record: "-o FILE"; NULL: none */
	const char *section;	      /* the fact with the program's duration */
	const char *key;
	const char *inactive; /* the note that it recorded nothing, with the reason */
} overhead_way;
extern const overhead_way overhead_methods[OVERHEAD_METHODS];

typedef struct overhead_method {
	bool wanted;
	char absent[600]; /* reason why it is not possible for this program; "": possible */
	bool whole;	  /* time_ns is that of the whole command */
	/* Per round. */
	double time_ns[OVERHEAD_ROUNDS_MAX], whole_ns[OVERHEAD_ROUNDS_MAX];
	double rss_bytes, output_bytes; /* maximum; 0: unknown */
} overhead_method;

typedef struct overhead {
	const dck_overhead_config *config;
	char *const *argv;
	char directory[OS_TEMP_SIZE];
	size_t rounds; /* complete rounds */
	bool cancelled;
	record_others others; /* other processes that used the machine during the rounds */
	overhead_method of[OVERHEAD_METHODS];
} overhead;

/* Runs it in round o->rounds. A method that fails becomes absent; the program itself must not:
 * E_ENGINE. */
dck_status overhead_run(overhead *o, size_t method, dck_err *err);

#endif
