/* cli_worker.c - a command as a worker: a process that the library starts to measure in, with one
 * option more than a user gives. Its record goes to a descriptor that it inherited.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <fcntl.h>
#include <limits.h>

const dck_opt cli_worker_options[] = {
    DCK_OPTION(COUNT, cli_worker, fd, "worker-fd", "N", NULL,
	       "write the record as JSON to this descriptor and nothing to stdout", .min = 3,
	       .max = INT_MAX),
    DCK_OPTION(COUNT, cli_worker, of, "worker-of", "PID", NULL, "end with this process", .min = 1,
	       .max = INT_MAX),
    DCK_OPTION(TIME, cli_worker, enough_ns, "worker-enough", "TIME", NULL,
	       "time limit once --min-runs are done", .min = 1, .max = 1e15),
    DCK_FLAG(cli_worker, trials, "worker-trials",
	     "answer the requests of a comparison over that descriptor"),
    {0},
};

static int record_send(const cli_worker *w, const dck_record *r)
{
	dck_sink out;
	dck_err err;

	dck_sink_fd(&out, (int)w->fd);
	if (dck_report("json", &r, 1, NULL, &out, &err) != DCK_OK ||
	    dck_sink_finish(&out, &err) != DCK_OK)
		return cli_failed(&err);
	return CLI_OK;
}

/* The process that started this one shows the reason. */
static int failure_send(const cli_worker *w, const dck_err *why)
{
	dprintf((int)w->fd, "!%d %s", (int)why->code, why->msg);
	return why->code == DCK_E_ARG ? CLI_USAGE : CLI_FAILED;
}

static void worker_begin(const cli_worker *w)
{
	/* Programs that are measured here have no business with it. */
	fcntl((int)w->fd, F_SETFD, FD_CLOEXEC);
	if (w->of > 0)
		cli_signals_die_with_parent((pid_t)w->of);
	cli_signals_install();
	cli_signals_watchdog();
}

int cli_worker_trials(const cli *c, const dck_plan *plan)
{
	const dck_observer observer = {.cancelled = cli_cancelled};
	dck_err err;

	worker_begin(&c->worker);
	if (dck_trials_serve(&c->subject, plan, &observer, (int)c->worker.fd, &err) != DCK_OK)
		return cli_failed(&err);
	return CLI_OK;
}

int cli_worker_run(const cli *c, cli_maker make, void *config)
{
	const dck_observer observer = {.cancelled = cli_cancelled};
	dck_record *record;
	dck_err err;
	int code;

	worker_begin(&c->worker);
	if (make(c, config, &observer, &record, &err) != DCK_OK)
		return failure_send(&c->worker, &err);
	code = record_send(&c->worker, record);
	dck_record_free(record);
	return code;
}
