/* space.h - the options that `tune` varies, and their values: a table of the usual ones, or the
 * user's file.
 *
 * Each option is a dimension; value 0 of it is the default, the subject as it was given. An option
 * that the user set is not varied. An option that an engine does not have does not exist for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_SPACE_H
#define TUNE_SPACE_H

#include "deepclock/tune.h"
#include "base/mem.h"
#include "study/tune/race.h"
#include "study/tune/variants.h"

enum { TUNE_LATENCY, TUNE_THROUGHPUT }; /* indexes into dck_tune_goals */

/* What has an option: the model (a row of dck_model_options), the engine (a key of
 * --engine-option), the load that is measured, or the file of the model. */
typedef enum space_of { SPACE_OF_MODEL, SPACE_OF_ENGINE, SPACE_OF_LOAD, SPACE_OF_FILE } space_of;

/* The option of the load: the number of requests that run at the same time. */
#define SPACE_IN_FLIGHT "in-flight"
/* The option of the file: a variant of the model. */
#define SPACE_VARIANT "variant"

typedef struct space_dim {
	const char *name;
	space_of of;
	const char *value[RACE_VALUES_MAX]; /* [0] NULL: the default */
	size_t n;			    /* values, with the default */
	uint32_t applies;		    /* bit e: engine e has the option */
} space_dim;

typedef struct space {
	space_dim dims[RACE_DIMS_MAX];
	size_t n;
	const char *engines[RACE_VALUES_MAX]; /* [0]: the subject's */
	size_t nengines;
	bool varies_engine;    /* then dimension 0 is the engine */
	const variants *files; /* of --quantize; NULL: none */
	const char *fixed;     /* usual options that the user set, "threads, opt"; "": none */
	const char *absent;    /* engines that cannot be used here, with reasons; "": none */
} space;

/* Makes the space of a subject; texts live in the arena. E_ARG: an option or a value that does not
 * exist, a file that cannot be read as a space; E_LIMIT: more configurations than RACE_SINGLES_MAX.
 * files: variants of the model, which live as long as the space; NULL: none. */
dck_status space_make(const dck_subject *s, const dck_tune_config *c, const variants *files,
		      mem_arena *a, space *ret, dck_err *err);

/* Makes the subject of a configuration; texts live in the arena. value[p->n] */
dck_status space_subject(const space *p, const dck_subject *s, const uint8_t *value, mem_arena *a,
			 dck_subject *ret, dck_err *err);
/* Returns KEY=VALUE of an --engine-option, which may begin with "ENGINE:"; NULL: it is for another
 * engine. */
const char *space_engine_option(const char *engine, const char *text);
/* Returns the variant of a configuration, an index below VARIANTS; -1: the model as it was given.
 */
int space_variant(const space *p, const uint8_t *value);
/* Returns the number of requests in flight of a configuration. */
uint64_t space_in_flight(const space *p, const uint8_t *value);
/* Returns whether configurations differ in it. */
bool space_varies_in_flight(const space *p);
/* Returns "threads=1 spin=0", "default"; NULL: no memory. */
const char *space_text(const space *p, const uint8_t *value, mem_arena *a);

/* Copies the dimensions into the config of a race. */
void space_race(const space *p, race_config *ret);

#endif
