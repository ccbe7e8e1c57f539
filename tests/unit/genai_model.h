/* genai_model.h - writes a small decoder and its description for ONNX Runtime GenAI.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GENAI_MODEL_H
#define TESTS_GENAI_MODEL_H

#include "deepclock/model.h"
#include "deepclock/report.h"
#include "scratch.h"

/* One layer of 2 heads of 8 numbers, one of keys and values; 64 tokens, of which `end` ends a
 * sequence; at most 256 of them. */
static inline void genai_model_write(const char *folder, int end)
{
	const dck_zoo_config c = {.symbolic = true,
				  .layers = 1,
				  .hidden = 16,
				  .heads = 2,
				  .kv_heads = 1,
				  .vocabulary = 64};
	char path[PATH_MAX], text[2048];
	dck_buffer bytes = {0};
	dck_sink sink;
	dck_err err;

	dck_sink_buffer(&sink, &bytes);
	assert_int_equal(dck_zoo_write("llama_mini", &c, &sink, &err), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, &err), DCK_OK);
	snprintf(path, sizeof path, "%s/decoder.onnx", folder);
	scratch_file(path, bytes.data, bytes.n);
	dck_buffer_done(&bytes);
	snprintf(
	    text, sizeof text,
	    "{\"model\": {\"type\": \"llama\", \"vocab_size\": 64, \"context_length\": 256, "
	    "\"bos_token_id\": 1, \"eos_token_id\": %d, \"pad_token_id\": 0, \"decoder\": "
	    "{\"filename\": \"decoder.onnx\", \"hidden_size\": 16, \"head_size\": 8, "
	    "\"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"num_hidden_layers\": 1, "
	    "\"session_options\": {\"provider_options\": []}, \"inputs\": {\"input_ids\": "
	    "\"input_ids\", \"attention_mask\": \"attention_mask\", \"position_ids\": "
	    "\"position_ids\", \"past_key_names\": \"past_key_values.%%d.key\", "
	    "\"past_value_names\": \"past_key_values.%%d.value\"}, \"outputs\": {\"logits\": "
	    "\"logits\", \"present_key_names\": \"present.%%d.key\", \"present_value_names\": "
	    "\"present.%%d.value\"}}}, \"search\": {\"max_length\": 256, "
	    "\"past_present_share_buffer\": false}}",
	    end);
	snprintf(path, sizeof path, "%s/genai_config.json", folder);
	scratch_text(path, text);
}

#endif
