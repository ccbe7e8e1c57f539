/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/module_tree.h"
#include "base/err.h"
#include "record/tree/call_tree.h"
#include "record/tree/cct.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOPS, MACS, BYTES, TIME };
static const dck_column module_weights[] = {[FLOPS] = {"flops", "FLOPs", DCK_UNIT_FLOP},
					    [MACS] = {"macs", "MACs", DCK_UNIT_ONE},
					    [BYTES] = {"bytes", "moved", DCK_UNIT_BYTE},
					    [TIME] = {"time", "time", DCK_UNIT_NS}};
/* call_tree_unknown(): of how many operators a weight is not known. */
static const dck_column module_unknown[] = {
    [FLOPS] = {CALL_UNKNOWN "flops", "operators of unknown FLOPs", DCK_UNIT_ONE},
    [MACS] = {CALL_UNKNOWN "macs", "operators of unknown MACs", DCK_UNIT_ONE},
    [BYTES] = {CALL_UNKNOWN "bytes", "operators of unknown bytes", DCK_UNIT_ONE}};

/* Classes of modules: by their paths, the name of a class as another text. */
typedef struct modules {
	cct paths;
	string_table texts;
	hash_map classes; /* by the number of a path: that of its class */
	dck_column columns[2 * TIME + 1];
	size_t ncolumns, unknown[TIME]; /* unknown: columns of module_unknown; 0: all are known */
	bool timed;
} modules;

static size_t tree_part_end(const char *scope, size_t at)
{
	return at + strcspn(scope + at, "/.");
}

/* "Conv2d" of "torch.nn.modules.conv.Conv2d". */
static const char *tree_short_name(const char *class_name)
{
	const char *dot = strrchr(class_name, '.');

	return dot ? dot + 1 : class_name;
}

/* An operator has the class of its own module, not of the modules around it. */
static bool classes_find(modules *m, const dck_op *ops, size_t n)
{
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++) {
		if (!ops[i].scope || !ops[i].class_name)
			continue;
		const char *class_name = tree_short_name(ops[i].class_name);
		const uint32_t path =
		    string_table_intern(&m->texts, ops[i].scope, strlen(ops[i].scope));

		ok = hash_map_put(&m->classes, path,
				  string_table_intern(&m->texts, class_name, strlen(class_name)));
	}
	return ok;
}

/* "conv1 (Conv2d)" of the part of a scope between these ends. */
static uint32_t module_frame(modules *m, const char *scope, size_t begin, size_t end)
{
	const uint32_t path = string_table_intern(&m->texts, scope, end);
	const char *class_name = string_name_of(&m->texts, hash_map_find(&m->classes, path)).text;
	char name[512];

	snprintf(name, sizeof name, "%.*s%s%.200s%s", (int)(end - begin < 250 ? end - begin : 250),
		 scope + begin, class_name ? " (" : "", class_name ? class_name : "",
		 class_name ? ")" : "");
	return cct_frame(&m->paths, &(dck_frame){.name = name});
}

/* "/models/net.py:17" */
static uint32_t op_frame(modules *m, const dck_op *op)
{
	const char *colon = op->line ? strrchr(op->line, ':') : NULL;
	dck_frame f = {.name = op->type ? op->type : "?", .file = op->line};
	char file[STRING_NAME_MAX];

	if (colon && colon[1] >= '0' && colon[1] <= '9') {
		snprintf(file, sizeof file, "%.*s",
			 (int)(colon - op->line < STRING_NAME_MAX ? colon - op->line
								  : STRING_NAME_MAX - 1),
			 op->line);
		f.file = file;
		f.line = (uint32_t)strtoul(colon + 1, NULL, 10);
	}
	return cct_frame(&m->paths, &f);
}

static void tree_weight_add(cct *p, uint32_t path, size_t column, const dck_value *v)
{
	const double number = dck_value_number(v);

	if (!isnan(number))
		cct_add(p, path, column, number);
}

/* Returns which weights of the operator are not known, a bit each. */
static unsigned unknown_weights(const dck_op *op)
{
	return (unsigned)isnan(dck_value_number(&op->flops)) << FLOPS |
	       (unsigned)isnan(dck_value_number(&op->macs)) << MACS |
	       (unsigned)(isnan(dck_value_number(&op->read_bytes)) ||
			  isnan(dck_value_number(&op->write_bytes)))
		   << BYTES;
}

static void module_columns(modules *m, const dck_op *ops, size_t n)
{
	unsigned unknown = 0;

	for (size_t i = 0; i < n; i++) {
		m->timed |= ops[i].time_ns.kind != DCK_VALUE_ABSENT;
		unknown |= unknown_weights(&ops[i]);
	}
	m->ncolumns = m->timed ? TIME + 1 : TIME;
	memcpy(m->columns, module_weights, m->ncolumns * sizeof *m->columns);
	for (size_t k = 0; k < TIME; k++)
		if (unknown >> k & 1) {
			m->unknown[k] = m->ncolumns;
			m->columns[m->ncolumns++] = module_unknown[k];
		}
}

static void op_add(modules *m, const dck_op *op)
{
	const char *scope = op->scope ? op->scope : "(no module)";
	const size_t n = op->scope ? strlen(scope) : 0;
	uint32_t path = 0;

	if (!n)
		path = cct_child(&m->paths, 0, cct_frame(&m->paths, &(dck_frame){.name = scope}));
	for (size_t begin = 0; begin < n;) {
		const size_t end = tree_part_end(scope, begin);

		if (end > begin)
			path = cct_child(&m->paths, path, module_frame(m, scope, begin, end));
		begin = end + 1;
	}
	path = cct_child(&m->paths, path, op_frame(m, op));
	tree_weight_add(&m->paths, path, FLOPS, &op->flops);
	tree_weight_add(&m->paths, path, MACS, &op->macs);
	tree_weight_add(&m->paths, path, BYTES, &op->read_bytes);
	tree_weight_add(&m->paths, path, BYTES, &op->write_bytes);
	for (size_t k = 0; k < TIME; k++)
		if (unknown_weights(op) >> k & 1)
			cct_add(&m->paths, path, m->unknown[k], 1);
	if (m->timed)
		tree_weight_add(&m->paths, path, TIME, &op->time_ns);
}

dck_status module_tree_put(record_builder *b, dck_err *err)
{
	size_t n;
	const dck_op *ops = record_ops(b, &n);
	bool scopes = false;
	modules m = {0};

	for (size_t i = 0; i < n; i++)
		scopes |= ops[i].scope != NULL;
	if (!scopes)
		return DCK_OK;
	module_columns(&m, ops, n);
	dck_status status = cct_init(&m.paths, m.columns, m.ncolumns, err);
	DCK_NEXT(status, string_table_init(&m.texts, err));
	if (status == DCK_OK && !classes_find(&m, ops, n))
		status = ERR_NO_MEMORY(err, "for the tree of modules");
	for (size_t i = 0; i < n && status == DCK_OK; i++)
		op_add(&m, &ops[i]);
	if (status == DCK_OK && string_table_failed(&m.texts))
		status = ERR_NO_MEMORY(err, "for the tree of modules");
	string_table_done(&m.texts);
	hash_map_done(&m.classes);
	cct_freeze(&m.paths);
	DCK_NEXT(status, cct_tree(&m.paths, "modules", MODULE_TREE_TITLE, b, err));
	cct_done(&m.paths);
	return status;
}
