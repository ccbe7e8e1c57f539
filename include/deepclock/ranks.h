/* ranks.h - a job of several processes, under torchrun, MPI or Slurm: which rank holds the others
 * up. Each rank calls dck_ranks_run(), or dck_ranks_begin() and dck_ranks_end() in its program,
 * with the same configuration; rank 0 gets the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_RANKS_H
#define DCK_RANKS_H

#include "opt.h"
#include "program.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_ranks_config {
	uint32_t struct_size; /* set by dck_ranks_config_init() */
	/* How the ranks find rank 0: a file in a directory that they share, or HOST:PORT of rank 0.
	 * NULL: by the launcher's variables. */
	const char *rendezvous;
	const char *step;     /* name of the ranges that are steps: "step" */
	dck_list collectives; /* names of collectives besides those that begin with "collective:" */
	uint64_t warmup;      /* steps at the beginning that are left out; at most a quarter */
	uint64_t wait_ns;     /* rank 0 waits this long for the others after its program's end */
	const char *traces;   /* directory for the trace of each rank, rank-N.pftrace; NULL: none */
	const char *trace;    /* file of rank 0 for one trace of all ranks; NULL: none */
} dck_ranks_config;

/* The command-line options of dck_ranks_config. */
DCK_API extern const dck_opt dck_ranks_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_ranks_config_init_sized(dck_ranks_config *c, uint32_t struct_size);
static inline void dck_ranks_config_init(dck_ranks_config *c)
{
	dck_ranks_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Runs the program of one rank, records its zones, laps and collectives, and sends them to rank 0.
 * *ret is the record of the job at rank 0, owned: dck_record_free(); NULL at other ranks. A rank
 * whose part is lost does not fail: then *lost has the reason, else its code is DCK_OK. E_ABSENT:
 * no such program; E_UNSUP: the launcher does not report the size of the job or where rank 0 is;
 * E_ARG, E_IO: no connection is possible; at rank 0, E_IO: what the ranks sent cannot be stored
 * below $TMPDIR; E_NOMEM. @since 0.1 */
DCK_API dck_status dck_ranks_run(const dck_ranks_config *config, dck_program *p, dck_record **ret,
				 dck_err *lost, dck_err *err) DCK_MUST_USE;

/* Compares the ranks before a job: all run the same kernels, and exchange the same messages with
 * rank 0, in turns, for a second or two. *ret at rank 0 is a record that names the slow ones,
 * owned: dck_record_free(), whose gate is violated if there are any; NULL at other ranks. Of config
 * `rendezvous` and `wait_ns` are used; NULL: the defaults. E_UNSUP: the job has one rank, or as
 * dck_ranks_run(); E_IO: rank 0 cannot be reached, or no connection is possible. @since 0.1 */
DCK_API dck_status dck_ranks_check(const dck_ranks_config *config, dck_record **ret,
				   dck_err *err) DCK_MUST_USE;

/* The same as dck_ranks_run(), inside a program, which a launcher starts without `deepclock ranks`.
 * What all threads record until the end counts.
 *
 *	if (dck_ranks_begin(NULL, &r, &err) == DCK_OK) {
 *		... dck_lap_begin("step"), DCK_ZONE("collective:sum") ...
 *		dck_ranks_end(r, &record, &err);
 *	}
 */
typedef struct dck_ranks dck_ranks;

/* Begins to record this process as one rank of the job. config is copied; NULL: the defaults. *ret
 * is owned: dck_ranks_end(). E_ARG: it records already, or the launcher's rank is impossible;
 * E_UNSUP, E_IO: as dck_ranks_run(). @since 0.1 */
DCK_API dck_status dck_ranks_begin(const dck_ranks_config *config, dck_ranks **ret,
				   dck_err *err) DCK_MUST_USE;

/* Ends the recording and frees r. A rank other than 0 sends its part; rank 0 waits for those of the
 * others, at most for config.wait_ns, and *ret is the record of the job there, owned:
 * dck_record_free(); NULL at other ranks. ret may be NULL. E_IO: rank 0 cannot be reached, so this
 * rank's part is lost; E_NOMEM. @since 0.1 */
DCK_API dck_status dck_ranks_end(dck_ranks *r, dck_record **ret, dck_err *err);

#ifdef __cplusplus
}
#endif
#endif
