/* ranks.c - `deepclock ranks`: runs the program of one rank, and at rank 0 makes the record of the
 * job.
 *
 * Order of work in each rank: find the job from the environment; start the server (rank 0) or the
 * client (others), so that clocks are compared while the program runs; record the program as
 * `deepclock trace` does, into a temporary trace; read steps, parts and collectives of it. Others
 * send that to rank 0 and are done. Rank 0 waits for them, each at most until one deadline, and
 * analyses what came.
 *
 * Invariant: whatever fails after the program has started costs the part of this rank alone. Ranks
 * other than 0 exit as their program did, because a launcher ends the others otherwise; rank 0,
 * which ends last, fails if parts are missing, or if it cannot make the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/ranks.h"
#include "deepclock/trace.h"
#include "deepclock/unstable.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/opt_text.h"
#include "record/program_end.h"
#include "os/os.h"
#include "profiler/ranks/rank_check_record.h"
#include "profiler/ranks/rank_link.h"
#include "profiler/ranks/rank_record.h"
#include "profiler/ranks/rank_trace.h"
#include "profiler/trace/trace_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Waits of the program do not matter here; shorter ones are not recorded. */
#define WAITS_LEAST_NS UINT64_C(3600000000000)

/* One rank. */
typedef struct rank_run {
	const dck_ranks_config *config;
	dck_program *program;	   /* NULL: this one */
	const dck_observer *watch; /* of this program's end; NULL: none */
	char *const *argv;
	os_job job;
	rank_meeting meeting;
	rank_server *server; /* rank 0 of several */
	rank_client *client; /* another rank */
	rank_part own;
	char directory[OS_TEMP_SIZE]; /* "": none yet */
	const char *trace;	      /* of this rank; in own.arena */
	bool cancelled;
} rank_run;

static bool rank_run_cancelled(void *self)
{
	const rank_run *r = self;

	if (r->program)
		return r->program->cancelled && r->program->cancelled(r->program->self);
	return r->watch && r->watch->cancelled && r->watch->cancelled(r->watch->self);
}

static dck_status trace_configure(rank_run *r, dck_trace_config *ret, dck_err *err)
{
	mem_arena *a = r->own.arena;

	DCK_TRY(dck_opt_defaults(dck_trace_options, ret, err));
	ret->waits_ns = WAITS_LEAST_NS;
	ret->path = r->config->traces
			? mem_arena_fmt(a, "%s/rank-%u.pftrace", r->config->traces, r->job.rank)
			: mem_arena_fmt(a, "%s/rank.pftrace", r->directory);
	DCK_NEED(ret->path, err, "for the trace of a rank");
	r->trace = ret->path;
	return DCK_OK;
}

/* Without some events the k-th step of a rank may be another than that of the others. */
static void part_losses_keep(rank_part *p, const dck_record *record)
{
	static const char *const codes[] = {"trace-not-whole", "trace-dropped",
					    "trace-too-many-open"};

	for (size_t i = 0; record && !p->lost && i < sizeof codes / sizeof *codes; i++) {
		const dck_note *note = dck_record_note(record, codes[i]);
		const size_t remedy = note && note->remedy[0] ? strlen(note->remedy) + 2 : 0;

		if (note)
			p->lost =
			    mem_arena_dup_n(p->arena, note->text, strlen(note->text) - remedy);
	}
}

/* Records the program, and reads its ranges into r->own. E_NOMEM, E_IO: of the part alone. */
static dck_status program_record(rank_run *r, dck_err *err)
{
	rank_part *p = &r->own;
	const rank_names names = {r->config->step, &r->config->collectives};
	dck_trace_config trace;
	dck_record *record = NULL;
	rank_usage_start start;
	dck_err failed;

	DCK_TRY(trace_configure(r, &trace, err));
	rank_usage_begin(&start, false);
	const dck_status status =
	    trace_program_run(&trace, r->job.size, r->program, &record, &failed);
	rank_usage_end(&start, status == DCK_OK ? record : NULL, &p->usage);
	part_losses_keep(p, record);
	dck_record_free(record);
	r->cancelled = rank_run_cancelled(r);
	p->exit_code = r->program->exit_code;
	p->signal = r->program->signal;
	if (status != DCK_OK) {
		p->why = mem_arena_dup(p->arena, failed.msg);
		return DCK_OK;
	}
	return rank_ranges_read(trace.path, &names, p, err);
}

static dck_status own_part_begin(rank_run *r, dck_err *err)
{
	char host[256], boot[40];

	r->own.arena = mem_arena_new(0);
	DCK_NEED(r->own.arena, err, "for the part of a rank");
	os_machine_name(host, sizeof host);
	os_boot_id(boot);
	r->own.host = mem_arena_dup(r->own.arena, host);
	r->own.boot = mem_arena_dup(r->own.arena, boot);
	DCK_NEED(r->own.host && r->own.boot, err, "for the part of a rank");
	return DCK_OK;
}

/* Sends the part to rank 0. */
static dck_status part_send(rank_run *r, dck_err *err)
{
	const rank_exchange *e;
	wire_out bytes = {0};
	size_t n;

	rank_client_clock(r->client, r->config->wait_ns, &e, &n);
	/* Rank 0 reports a trace that is missing. */
	if (r->config->trace && r->trace && os_file_exists(r->trace))
		(void)rank_client_trace(r->client, r->trace, r->config->wait_ns, NULL);
	r->own.exchanges = mem_arena_array(r->own.arena, n, sizeof *e);
	DCK_NEED(r->own.exchanges, err, "for the clock of a rank");
	if (n > 0)
		memcpy(r->own.exchanges, e, n * sizeof *e);
	r->own.nexchanges = n;
	rank_part_write(&r->own, &bytes);
	const dck_status status = bytes.failed ? ERR_NO_MEMORY(err, "for the part of a rank")
					       : rank_client_send(r->client, bytes.data, bytes.n,
								  r->config->wait_ns, err);
	wire_out_done(&bytes);
	return status;
}

/* Collects the parts of all ranks: rank 0's own, and what came. */
static void parts_collect(rank_run *r, rank_part *parts)
{
	parts[0] = r->own;
	r->own = (rank_part){0};
	if (!r->server)
		return;
	rank_server_wait(r->server, os_now_ns() + r->config->wait_ns, rank_run_cancelled, r);
	r->cancelled = rank_run_cancelled(r);
	rank_server_close(r->server);
	for (uint32_t rank = 1; rank < r->job.size; rank++) {
		rank_absence absence;
		char path[4096];

		if (rank_server_part(r->server, rank, path, sizeof path, &absence) &&
		    rank_part_read(path, &parts[rank], NULL) != DCK_OK)
			absence = (rank_absence){
			    "its part cannot be read: it runs another version of deepclock",
			    "use one version in all ranks"};
		if (parts[rank].arena)
			continue;
		parts[rank].why = absence.why;
		parts[rank].remedy = absence.remedy;
	}
}

/* Merges the files of the ranks' traces, whose names are in the arena of parts[0]. */
static dck_status job_trace(rank_run *r, const rank_part *parts, rank_result *result,
			    dck_record **ret, dck_err *err)
{
	mem_arena *a = parts[0].arena;
	const char **files = mem_arena_array(a, r->job.size, sizeof *files);
	char path[4096];

	DCK_NEED(files, err, "for the traces of %u ranks", r->job.size);
	if (r->trace && os_file_exists(r->trace))
		files[0] = r->trace;
	for (uint32_t rank = 1; rank < r->job.size; rank++)
		if (rank_server_trace(r->server, rank, path, sizeof path))
			files[rank] = mem_arena_dup(a, path);
	result->traces = files;
	return rank_trace_write(r->config->trace, parts, files, r->job.size, ret, err);
}

static dck_status job_record(rank_run *r, dck_record **ret, dck_err *err)
{
	rank_part *parts = mem_zalloc(r->job.size, sizeof *parts);
	dck_record *trace = NULL;
	dck_err failed = {0};
	const rank_job_config how = {.warmup = r->config->warmup, .directory = r->directory};
	rank_job job = {0};

	DCK_NEED(parts, err, "for the parts of %u ranks", r->job.size);
	parts_collect(r, parts);
	dck_status status = rank_job_analyse(parts, r->job.size, &how, &job, err);
	rank_result result = {.config = r->config,
			      .argv = r->argv,
			      .at = &r->job,
			      .meeting = &r->meeting,
			      .parts = parts,
			      .job = &job,
			      .cancelled = r->cancelled};
	if (r->config->trace)
		(void)job_trace(r, parts, &result, &trace, &failed);
	result.trace = trace;
	result.trace_why = failed.msg;
	DCK_NEXT(status, rank_record_make(&result, ret, err));
	rank_job_done(&job);
	dck_record_free(trace);
	for (uint32_t rank = 0; rank < r->job.size; rank++)
		rank_part_done(&parts[rank]);
	mem_free(parts);
	return status;
}

static dck_status rank_connect(rank_run *r, dck_err *err)
{
	if (r->job.size == 1)
		return DCK_OK;
	DCK_TRY(rank_meeting_choose(&r->job, r->config->rendezvous, &r->meeting, err));
	return r->job.rank == 0 ? rank_server_start(&r->meeting, r->job.size, r->directory,
						    r->config->trace != NULL, &r->server, err)
				: rank_client_start(&r->meeting, r->job.rank, &r->client, err);
}

/* Rank 0 makes the record, the others send their part. */
static dck_status part_deliver(rank_run *r, dck_record **ret, dck_err *err)
{
	*ret = NULL;
	return r->job.rank == 0 ? job_record(r, ret, err) : part_send(r, err);
}

static void rank_run_done(rank_run *r)
{
	rank_client_stop(r->client);
	rank_server_stop(r->server);
	rank_part_done(&r->own);
	if (r->directory[0])
		os_temp_dir_remove(r->directory);
}

/* The directories, and the check that the merged trace can be written. */
static dck_status rank_files_begin(rank_run *r, dck_err *err)
{
	if (r->config->trace && r->job.rank == 0)
		DCK_TRY(rank_trace_check(r->config->trace, err));
	if (r->config->traces) {
		const char *file = mem_arena_fmt(r->own.arena, "%s/", r->config->traces);

		DCK_NEED(file, err, "for the directory of the traces");
		DCK_TRY(os_mkdir_parents(file, "the traces of the ranks", err));
	}
	return os_temp_dir(r->directory, err);
}

static dck_status rank_run_all(rank_run *r, dck_record **ret, dck_err *lost, dck_err *err)
{
	dck_err part_lost = {0};

	DCK_TRY(own_part_begin(r, err));
	DCK_TRY(rank_files_begin(r, err));
	DCK_TRY(rank_connect(r, err));
	const dck_status status = program_record(r, &part_lost);
	if (status != DCK_OK)
		r->own.why = mem_arena_dup(r->own.arena, part_lost.msg);
	*lost = (dck_err){0};
	if (r->job.rank == 0)
		return part_deliver(r, ret, err);
	if (part_deliver(r, ret, &part_lost) != DCK_OK)
		*lost = part_lost;
	return DCK_OK;
}

static dck_status rank_job_find(os_job *ret, dck_err *err)
{
	if (!os_job_get(ret) && ret->variable)
		DCK_FAIL(
		    err, E_ARG,
		    "%s is '%.40s', not the number of a rank: set it to a number from 0 on, or unset it",
		    ret->variable, getenv(ret->variable));
	if (ret->size == OS_NO_RANK)
		DCK_FAIL(err, E_UNSUP,
			 "%s sets %s, and does not report how many ranks the job has: set RANK and "
			 "WORLD_SIZE too",
			 ret->launcher, ret->variable);
	if (ret->size == 0 || ret->rank >= ret->size || ret->size > 1000000)
		DCK_FAIL(err, E_ARG, "%s sets rank %u of %u ranks, which is impossible",
			 ret->launcher, ret->rank, ret->size);
	return DCK_OK;
}

dck_status dck_ranks_run(const dck_ranks_config *config, dck_program *p, dck_record **ret,
			 dck_err *lost, dck_err *err)
{
	dck_ranks_config own;
	char *path;
	rank_run r = {.config = &own, .program = p, .argv = p->argv};

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_ranks_config_init, err, dck_ranks_options));
	DCK_TRY(program_given(p->argv, err));
	DCK_TRY(os_find_program(p->argv[0], &path, err));
	mem_free(path);
	DCK_TRY(rank_job_find(&r.job, err));
	const dck_status status = rank_run_all(&r, ret, lost, err);
	rank_run_done(&r);
	return status;
}

/* --- before a job */

static dck_status check_record(rank_run *r, const rank_kernel *k, dck_record **ret, dck_err *err)
{
	rank_part *parts = mem_zalloc(r->job.size, sizeof *parts);
	rank_check check = {0};

	DCK_NEED(parts, err, "for the parts of %u ranks", r->job.size);
	parts_collect(r, parts);
	dck_status status = rank_check_lead(r->server, r->job.size, k, &check, err);
	const rank_check_result result = {&r->job, parts, &check};
	DCK_NEXT(status, rank_check_record_make(&result, ret, err));
	rank_check_done(&check);
	for (uint32_t rank = 0; rank < r->job.size; rank++)
		rank_part_done(&parts[rank]);
	mem_free(parts);
	return status;
}

static dck_status check_follow(rank_run *r, const rank_kernel *k, dck_err *err)
{
	const rank_exchange *e;
	size_t n;

	/* The exchanges of time stamps also wait for the connection. */
	rank_client_clock(r->client, r->config->wait_ns, &e, &n);
	return rank_check_follow(r->client, &r->own, r->config->wait_ns, k, err);
}

static dck_status check_run(rank_run *r, const rank_kernel *k, dck_record **ret, dck_err *err)
{
	dck_record *record = NULL;

	DCK_TRY(own_part_begin(r, err));
	DCK_TRY(rank_files_begin(r, err));
	DCK_TRY(rank_connect(r, err));
	if (r->job.rank == 0)
		DCK_TRY(check_record(r, k, &record, err));
	else
		DCK_TRY(check_follow(r, k, err));
	*ret = record;
	return DCK_OK;
}

dck_status dck_ranks_check(const dck_ranks_config *config, dck_record **ret, dck_err *err)
{
	dck_ranks_config own;
	rank_kernel kernel;
	rank_run r = {.config = &own};

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_ranks_config_init, err, dck_ranks_options));
	own.trace = NULL;
	DCK_TRY(rank_job_find(&r.job, err));
	if (r.job.size == 1)
		DCK_FAIL(err, E_UNSUP,
			 "this job has one rank, and there is no other to compare it with: start "
			 "several by torchrun, mpirun or srun");
	DCK_TRY(rank_kernel_open(&kernel, err));
	const dck_status status = check_run(&r, &kernel, ret, err);
	rank_run_done(&r);
	rank_kernel_close(&kernel);
	return status;
}

/* --- inside a program */

enum { ARGUMENTS_MAX = 64 };

struct dck_ranks {
	rank_run run;
	dck_ranks_config config; /* texts in run.own.arena */
	rank_usage_start usage;
	bool records;
	char text[4096];
	char *argv[ARGUMENTS_MAX];
};

static dck_status config_copy(dck_ranks *r, const dck_ranks_config *config, dck_err *err)
{
	dck_ranks_config *c = &r->config;
	mem_arena *a = r->run.own.arena;

	DCK_TRY(OPT_CONFIG_GET(config, c, dck_ranks_config_init, err, dck_ranks_options));
	c->rendezvous = c->rendezvous ? mem_arena_dup(a, c->rendezvous) : NULL;
	c->step = mem_arena_dup(a, c->step);
	c->traces = c->traces ? mem_arena_dup(a, c->traces) : NULL;
	c->trace = c->trace ? mem_arena_dup(a, c->trace) : NULL;
	for (size_t i = 0; i < c->collectives.n; i++)
		c->collectives.item[i] = mem_arena_dup(a, c->collectives.item[i]);
	DCK_NEED(!mem_arena_failed(a), err, "for the configuration of a rank");
	return DCK_OK;
}

static dck_status inside_begin(dck_ranks *r, const dck_ranks_config *config, dck_err *err)
{
	dck_trace_config trace;

	DCK_TRY(own_part_begin(&r->run, err));
	DCK_TRY(config_copy(r, config, err));
	DCK_TRY(rank_job_find(&r->run.job, err));
	DCK_TRY(rank_files_begin(&r->run, err));
	DCK_TRY(trace_configure(&r->run, &trace, err));
	DCK_TRY(dck_trace_start(&trace, err));
	r->records = true;
	rank_usage_begin(&r->usage, true);
	return rank_connect(&r->run, err);
}

static void inside_free(dck_ranks *r)
{
	if (r->records)
		(void)dck_trace_end(NULL);
	rank_run_done(&r->run);
	mem_free(r);
}

dck_status dck_ranks_begin(const dck_ranks_config *config, dck_ranks **ret, dck_err *err)
{
	dck_ranks *r = mem_zalloc(1, sizeof *r);

	DCK_NEED(r, err, "for a rank");
	r->run.config = &r->config;
	os_program_arguments(r->text, sizeof r->text, r->argv, ARGUMENTS_MAX);
	r->run.argv = r->argv;
	const dck_status status = inside_begin(r, config, err);
	if (status == DCK_OK)
		*ret = r;
	else
		inside_free(r);
	return status;
}

dck_status dck_ranks_end(dck_ranks *r, dck_record **ret, dck_err *err)
{
	return dck_ranks_end_watched(r, NULL, ret, err);
}

dck_status dck_ranks_end_watched(dck_ranks *r, const dck_observer *watch, dck_record **ret,
				 dck_err *err)
{
	rank_part *p = &r->run.own;
	const rank_names names = {r->config.step, &r->config.collectives};
	dck_record *trace = NULL, *job = NULL;
	dck_err failed;

	dck_status status = dck_trace_stop(&trace, &failed);
	r->records = false;
	rank_usage_end(&r->usage, trace, &p->usage);
	part_losses_keep(p, trace);
	DCK_NEXT(status, rank_ranges_read(r->run.trace, &names, p, &failed));
	dck_record_free(trace);
	if (status != DCK_OK)
		p->why = mem_arena_dup(p->arena, failed.msg);
	r->run.watch = watch;
	status = part_deliver(&r->run, &job, err);
	if (ret && status == DCK_OK)
		*ret = job;
	else
		dck_record_free(job);
	inside_free(r);
	return status;
}
