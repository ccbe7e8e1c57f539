/* overhead_rounds.c - `deepclock overhead`: the same command under each profiling method and under
 * none, once per round in random order (a randomised block design), so that other load on the
 * machine affects all methods alike.
 *
 * Each run is a separate process: the command, or `deepclock METHOD -- command`. The program's time
 * under a method is taken from the method's record, if it has it; else it is the time of the whole
 * command. A method's ratio is formed from the two times of each round, so a drift of the machine
 * from round to round does not change it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/overhead/overhead_run.h"

#include "base/err.h"
#include "base/opt_text.h"
#include "base/rng.h"
#include "record/program_end.h"
#include "os/os.h"
#include "profiler/overhead/overhead_record.h"

#include <string.h>

static dck_status methods_choose(const dck_list *asked, overhead *o, dck_err *err)
{
	size_t found = 0;

	for (size_t i = 0; i < OVERHEAD_METHODS; i++) {
		o->of[i].wanted = i == OVERHEAD_NONE || asked->n == 0;
		for (size_t k = 0; k < asked->n; k++)
			if (strcmp(asked->item[k], overhead_methods[i].name) == 0 &&
			    i != OVERHEAD_NONE) {
				o->of[i].wanted = true;
				found++;
			}
	}
	if (found < asked->n)
		DCK_FAIL(err, E_ARG,
			 "there are the methods count, sample, trace, trace-sample and memory");
	return DCK_OK;
}

static void rounds_order_make(uint64_t *random, size_t order[OVERHEAD_METHODS])
{
	for (size_t i = 0; i < OVERHEAD_METHODS; i++)
		order[i] = i;
	for (size_t i = OVERHEAD_METHODS; i > 1; i--) {
		const size_t k = rng_below(random, i), last = order[i - 1];

		order[i - 1] = order[k];
		order[k] = last;
	}
}

static dck_status overhead_rounds_run(overhead *o, dck_err *err)
{
	uint64_t random = o->config->seed;
	size_t order[OVERHEAD_METHODS];

	for (o->rounds = 0; o->rounds < o->config->rounds; o->rounds++) {
		rounds_order_make(&random, order);
		for (size_t i = 0; i < OVERHEAD_METHODS; i++) {
			overhead_method *m = &o->of[order[i]];

			if (m->wanted && !m->absent[0])
				DCK_TRY(overhead_run(o, order[i], err));
		}
	}
	return DCK_OK;
}

dck_status dck_overhead(const dck_overhead_config *config, char *const *argv, dck_record **ret,
			dck_err *err)
{
	dck_overhead_config own;
	overhead *o;

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_overhead_config_init, err, dck_overhead_options));
	DCK_TRY(program_given(argv, err));
	if (!own.deepclock)
		DCK_FAIL(err, E_ARG,
			 "the config names no deepclock program, which makes each profile");
	o = mem_zalloc(1, sizeof *o);
	DCK_NEED(o, err, "for the costs of profiles");
	o->config = &own;
	o->argv = argv;
	dck_status st = methods_choose(&own.methods, o, err);
	DCK_NEXT(st, os_temp_dir(o->directory, err));
	if (st == DCK_OK) {
		record_others_begin(&o->others, 0);
		st = overhead_rounds_run(o, err);
		record_others_end(&o->others);
		/* The whole rounds that there are, where there are enough. */
		o->cancelled = st == DCK_E_CANCEL && o->rounds >= 2;
		if (o->cancelled)
			st = DCK_OK;
		os_temp_dir_remove(o->directory);
	}
	DCK_NEXT(st, overhead_record_make(o, ret, err));
	mem_free(o);
	return st;
}
