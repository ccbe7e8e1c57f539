/* generate_decoder.h - a decoder with past keys and values, run token by token: which inputs and
 * outputs are the tokens, the mask, the positions, the cache and the scores, and one step.
 *
 *	decoder_layout l;
 *	decoder_steps d = {0};
 *
 *	DCK_TRY(decoder_layout_find(&target, &dims, arena, &l, err));
 *	DCK_TRY(decoder_steps_open(&d, &target, &clock, &l, sizes, err));
 *	decoder_steps_begin(&d, batch);
 *	DCK_TRY(decoder_step(&d, prompt, n, next, err));	the prompt
 *	DCK_TRY(decoder_step(&d, next, 1, next, err));		one more token
 *	decoder_steps_close(&d);
 *
 * Two contexts of the model take turns: the outputs of one are bound as the past of the other, at
 * their addresses, so the cache is never copied here. An output stays valid until its own context
 * runs again (plugin.h), which is after the other one has read it. On a device they are bound where
 * they are in its memory, and only the scores are copied to the host, which also waits for the run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GENERATE_GENERATE_DECODER_H
#define GENERATE_GENERATE_DECODER_H

#include "measure/subject/target.h"

#define DECODER_NONE SIZE_MAX

/* A part of the cache: an input and the output that becomes it. */
typedef struct decoder_part {
	size_t in, out;
} decoder_part;

typedef struct decoder_layout {
	const dck_tensor_info *in, *out;
	size_t nin, nout;
	size_t ids, mask, positions, logits; /* DECODER_NONE: the model has none */
	decoder_part *part;
	size_t nparts;
	int64_t vocabulary;
	int64_t batch; /* fixed by the model; 0: open */
	bool runs;     /* false: the engine takes no tensors, and tokens are not known */
} decoder_layout;

/* Recognises a decoder by the names and shapes that transformers' and optimum's exports have.
 * dims: sizes of open symbols, "SYMBOL=N".
 * E_UNSUP: it is not a decoder; the message names the input that is missing or unknown. */
dck_status decoder_layout_find(const subject_target *t, const dck_list *dims, mem_arena *a,
			       decoder_layout *ret, dck_err *err);
/* Returns the bytes of the cache for that many sequences and tokens, by the declared shapes. */
double decoder_cache_bytes(const decoder_layout *l, uint64_t batch, uint64_t tokens);

/* The largest sizes of a measurement. */
typedef struct decoder_sizes {
	uint64_t batch, prompt, tokens; /* tokens: of prompt and answer */
	const char *device;		/* where the model runs; NULL: the processor */
} decoder_sizes;

typedef struct decoder_steps {
	const dck_engine *engine;
	const dck_clock *clock;
	const decoder_layout *layout;
	dck_engine_context *context[2], *own; /* own: the second context, owned */
	void *ids, *mask, *positions, *empty; /* owned */
	bool on_device;			      /* the cache stays in its memory */
	uint64_t batch, length;		      /* of the cache: sequences, tokens in it */
	unsigned turn;
	dck_tensor *past;	   /* [nparts]: outputs of the last step */
	uint64_t cache_bytes;	   /* of these, as the engine returned them; 0: not read */
	uint64_t engine_ns;	   /* in the engine's runs since decoder_steps_begin() */
	uint64_t chosen, unscored; /* tokens; those that are 0, as all their scores were NaN */
} decoder_steps;

/* E_UNSUP: the target is on a device, and the engine cannot keep the cache in its memory. */
dck_status decoder_steps_open(decoder_steps *d, const subject_target *t, const dck_clock *clock,
			      const decoder_layout *l, decoder_sizes sizes, dck_err *err);
void decoder_steps_close(decoder_steps *d); /* {0} is allowed */
/* Empties the cache. */
void decoder_steps_begin(decoder_steps *d, uint64_t batch);
/* Runs the model on n new tokens of each sequence, ids[batch][n], and returns the token with the
 * highest score after each, ret_next[batch], which may be `ids` where n is 1: 0 if all are NaN. -1:
 * not known. */
dck_status decoder_step(decoder_steps *d, const int64_t *ids, size_t n, int64_t *ret_next,
			dck_err *err);

#endif
