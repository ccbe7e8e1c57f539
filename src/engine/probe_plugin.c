/* probe_plugin.c - reads the description of a plug-in in a child process: a file that crashes when
 * it is loaded results only in a message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"
#include "deepclock/unstable.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "engine/engine.h"
#include "os/os.h"

#include <stdio.h>
#include <string.h>

#define TIMEOUT_NS (60 * 1000000000ull)
#define ANSWER_MAX (1u << 20)

/* The child's answer, texts with their NUL: "-" and the reason; or "+", the texts of this list, and
 * three for each option. */
enum { NAME = 1, HELP, VERSION, ABI, OPENS, OPTIONS };

static void text(dck_sink *out, const char *s)
{
	sink_put(out, s ? s : "", s ? strlen(s) + 1 : 1);
}

static void table_write(const dck_engine *e, dck_sink *out)
{
	char abi[32];

	snprintf(abi, sizeof abi, "%u.%u", (unsigned)e->abi_major, (unsigned)e->abi_minor);
	text(out, "+");
	text(out, e->name);
	text(out, e->help);
	text(out, e->version);
	text(out, abi);
	text(out, e->caps & DCK_CAP_NO_MODEL ? "its own work, without a model" : "a model");
	for (const dck_engine_option *o = e->options; o && o->key; o++) {
		text(out, o->key);
		text(out, o->values);
		text(out, o->help);
	}
}

static void plugin_answer(void *self, dck_sink *out)
{
	engine_handle h;
	dck_err err;

	if (engine_find(self, &h, &err) == DCK_OK) {
		table_write(h.ops, out);
	} else {
		text(out, "-");
		text(out, err.msg);
	}
}

/* The texts of the answer after one another. */
static const char *plugin_next(const char **at)
{
	const char *now = *at;

	*at += strlen(now) + 1;
	return now;
}

static dck_status info_make(const dck_buffer *b, size_t n, dck_engine_info **ret, dck_err *err)
{
	static const char *const keys[] = {[VERSION] = "version", [ABI] = "abi", [OPENS] = "opens"};
	const size_t noptions = (n - OPTIONS) / 3, nfacts = OPTIONS - VERSION;
	const size_t rows = sizeof(dck_engine_info) + nfacts * sizeof(dck_kv) +
			    (noptions + 1) * sizeof(dck_engine_option);
	char *block = mem_zalloc(1, rows + b->n);

	DCK_NEED(block, err, "for the output of the plug-in");
	dck_engine_info *info = (dck_engine_info *)(void *)block;
	dck_kv *facts = (dck_kv *)(void *)(info + 1);
	dck_engine_option *options = (dck_engine_option *)(void *)(facts + nfacts);
	const char *at = memcpy(block + rows, b->data, b->n);

	plugin_next(&at);
	*info =
	    (dck_engine_info){.usable = true, .options = options, .facts = facts, .nfacts = nfacts};
	info->name = plugin_next(&at);
	info->help = plugin_next(&at);
	for (int k = VERSION; k < OPTIONS; k++)
		facts[k - VERSION] = (dck_kv){keys[k], plugin_next(&at)};
	for (size_t i = 0; i < noptions; i++) {
		options[i].key = plugin_next(&at);
		options[i].values = plugin_next(&at);
		options[i].help = plugin_next(&at);
	}
	*ret = info;
	return DCK_OK;
}

dck_status dck_plugin_probe(const char *name, dck_engine_info **ret, dck_err *err)
{
	dck_buffer b = {0};
	size_t n = 0;
	char *copy = mem_dup(name);

	DCK_NEED(copy, err, "to query '%.200s'", name);
	dck_status status = os_in_child(plugin_answer, copy, TIMEOUT_NS, ANSWER_MAX, &b, err);
	for (size_t i = 0; i < b.n; i++)
		n += b.data[i] == '\0';
	if (status != DCK_OK)
		err_while(err, status, "querying '%.200s' in a child process", name);
	else if (n == 2 && b.data[0] == '-')
		status = ERR_SET(err, E_ENGINE, "%s", b.data + 2);
	else if (n < OPTIONS || (n - OPTIONS) % 3 != 0 || b.data[b.n - 1] != '\0')
		status = ERR_SET(err, E_ENGINE,
				 "the child process that probed '%.200s' ended too early", name);
	else
		status = info_make(&b, n, ret, err);
	dck_buffer_done(&b);
	mem_free(copy);
	return status;
}
