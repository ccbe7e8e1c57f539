/* kserve.c - writes the tensors that a model's metadata declare, as JSON; reads whether an answer
 * has tensors.
 *
 * The metadata are read token by token, and each input is written when its end is reached. Values
 * are drawn by SplitMix64, one stream for each input: numbers from 0 to 1, integers 0 or 1, since
 * their range is not known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/kserve.h"
#include "base/commas.h"
#include "base/err.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/rng.h"
#include <stdio.h>
#include <string.h>

#define RANK_MAX   16
#define VALUES_MAX (1 << 24)

typedef struct kserve_input {
	char name[256], type[16];
	int64_t dim[RANK_MAX];
	size_t rank;
} kserve_input;

static dck_status shape_read(json_reader *r, kserve_input *in, dck_err *err)
{
	json_token t;
	double v;

	DCK_TRY(json_next(r, &t, err));
	if (t != JSON_ARRAY)
		DCK_FAIL(err, E_FORMAT, "the shape of an input is not a list");
	for (;;) {
		DCK_TRY(json_next_element(r, &t, err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t != JSON_LITERAL || !json_number(r->text, &v) || !(v >= -1 && v < 1e12) ||
		    in->rank == RANK_MAX)
			DCK_FAIL(err, E_FORMAT, "the shape of the input '%s' is not valid",
				 in->name);
		in->dim[in->rank++] = v < 0 ? 1 : (int64_t)v;
	}
}

static dck_status input_read(json_reader *r, kserve_input *in, dck_err *err)
{
	json_token t;
	bool more;

	for (;;) {
		DCK_TRY(json_next_key(r, &more, err));
		if (!more)
			return DCK_OK;
		char *to = strcmp(r->text, "name") == 0	      ? in->name
			   : strcmp(r->text, "datatype") == 0 ? in->type
							      : NULL;
		const size_t size = to == in->name ? sizeof in->name : sizeof in->type;

		if (strcmp(r->text, "shape") == 0) {
			DCK_TRY(shape_read(r, in, err));
			continue;
		}
		DCK_TRY(json_next(r, &t, err));
		if (to && t == JSON_TEXT)
			snprintf(to, size, "%.255s", r->text);
		DCK_TRY(json_skip(r, t, err));
	}
}

static void tensor_value(json_writer *w, const char *type, uint64_t bits)
{
	if (strcmp(type, "BOOL") == 0)
		json_bool(w, bits & 1);
	else if (type[0] == 'F')
		json_double(w, (double)(bits >> 44) / 1048576);
	else
		json_int(w, (int64_t)(bits & 1));
}

static dck_status tensor_write(json_writer *w, const kserve_input *in, uint64_t key, dck_err *err)
{
	static const char known[] =
	    "FP32,FP64,BOOL,INT8,INT16,INT32,INT64,UINT8,UINT16,UINT32,UINT64";
	uint64_t n = 1;

	if (!commas_have(known, in->type))
		DCK_FAIL(err, E_UNSUP,
			 "the input '%s' has the type '%s', which is not sent as numbers", in->name,
			 in->type);
	for (size_t i = 0; i < in->rank; i++) {
		n *= (uint64_t)in->dim[i];
		if (n > VALUES_MAX)
			DCK_FAIL(err, E_LIMIT, "the input '%s' has more than %d values", in->name,
				 VALUES_MAX);
	}
	json_begin_object(w);
	json_text(json_key(w, "name"), in->name);
	json_text(json_key(w, "datatype"), in->type);
	json_begin_array(json_key(w, "shape"));
	for (size_t i = 0; i < in->rank; i++)
		json_int(w, in->dim[i]);
	json_end(w);
	json_begin_array(json_key(w, "data"));
	for (uint64_t i = 0; i < n; i++)
		tensor_value(w, in->type, rng_at(key, i));
	json_end(w);
	json_end(w);
	return DCK_OK;
}

static dck_status body_write(json_reader *r, json_writer *w, uint64_t seed, dck_err *err)
{
	json_token t, value;
	bool any = false, more = true;

	DCK_TRY(json_next(r, &t, err));
	while (t == JSON_OBJECT && more) {
		DCK_TRY(json_next_key(r, &more, err));
		if (!more)
			break;
		const bool inputs = strcmp(r->text, "inputs") == 0;

		DCK_TRY(json_next(r, &value, err));
		if (!inputs || value != JSON_ARRAY) {
			DCK_TRY(json_skip(r, value, err));
			continue;
		}
		for (uint64_t i = 0;; i++) {
			kserve_input in = {0};

			DCK_TRY(json_next_element(r, &value, err));
			if (value != JSON_OBJECT)
				break;
			DCK_TRY(input_read(r, &in, err));
			DCK_TRY(tensor_write(w, &in, rng_at(seed, i), err));
			any = true;
		}
	}
	if (!any)
		DCK_FAIL(err, E_FORMAT, "the model's metadata have no inputs");
	return DCK_OK;
}

dck_status kserve_body(const char *metadata, size_t n, uint64_t seed, dck_buffer *to, dck_err *err)
{
	json_reader r;
	json_writer w;
	dck_sink sink;

	dck_sink_buffer(&sink, to);
	json_read_bytes(&r, metadata, n, "the model's metadata");
	json_init(&w, &sink, false);
	json_begin_object(&w);
	json_begin_array(json_key(&w, "inputs"));
	DCK_TRY(body_write(&r, &w, seed, err));
	json_end(&w);
	json_end(&w);
	json_done(&w);
	return dck_sink_finish(&sink, err);
}

kserve_answer kserve_answer_read(const char *data, size_t n, bool cut, char *message, size_t size)
{
	bool outputs = false, more = true;
	dck_status status;
	json_reader r;
	json_token t;

	message[0] = '\0';
	json_read_bytes(&r, data, n, "an answer");
	if (json_next(&r, &t, NULL) != DCK_OK || t != JSON_OBJECT)
		return KSERVE_MALFORMED;
	while ((status = json_next_key(&r, &more, NULL)) == DCK_OK && more) {
		const bool error = strcmp(r.text, "error") == 0;

		outputs |= strcmp(r.text, "outputs") == 0;
		status = json_next(&r, &t, NULL);
		if (error && status == DCK_OK && t == JSON_TEXT)
			snprintf(message, size, "%.*s", (int)size - 1, r.text);
		/* A long text is cut. */
		if (error && (status != DCK_OK || t == JSON_OBJECT || message[0]))
			return KSERVE_ERROR;
		DCK_NEXT(status, json_skip(&r, t, NULL));
		if (status != DCK_OK)
			break;
	}
	if (status != DCK_OK)
		return cut ? KSERVE_OUTPUTS : KSERVE_MALFORMED;
	if (json_next(&r, &t, NULL) != DCK_OK || t != JSON_END)
		return KSERVE_MALFORMED;
	return outputs ? KSERVE_OUTPUTS : KSERVE_EMPTY;
}
