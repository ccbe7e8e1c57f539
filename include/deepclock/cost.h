/* cost.h - computational cost of a model: multiply-accumulates, floating-point operations,
 * parameters and bytes of each operator, from the graph alone.
 *
 *     dck_subject s;  dck_cost_config c;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s);
 *     dck_cost_config_init(&c);
 *     s.kind = DCK_SUBJECT_MODEL;
 *     s.text = "model.onnx";
 *     if (dck_cost(&s, &c, NULL, &r, &err) == DCK_OK)
 *             printf("%.0f MACs\n", dck_record_value(r, "cost/macs"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_COST_H
#define DCK_COST_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Options: dck_cost_options. */
typedef struct dck_cost_config {
	uint32_t struct_size; /* set by dck_cost_config_init() */
	int as;		      /* index into dck_cost_peers; 0: none */
	bool backward;	      /* also the cost of a training step */
	bool run;	      /* shapes that the graph leaves unknown come from one real run */
	bool strict;	      /* an operator of unknown cost is an error (the program's) */
	const char *title;    /* the record's `command`; NULL: none */
} dck_cost_config;
DCK_API extern const dck_opt dck_cost_options[];
/* Counters with a known convention: "none", "torchvision", "fvcore", ..., NULL. */
DCK_API extern const char *const dck_cost_peers[];
enum { DCK_COST_PEERS_MAX = 16 };

/* A FLOP counter of another tool. */
typedef struct dck_cost_peer {
	const char *name, *help;
	const char *unit;   /* "MAC", "FLOP" */
	const char *hidden; /* a further quantity that its numbers depend on and that no graph
			       contains; NULL: none */
	bool is_partial;    /* its counts of operator types without a rule are unknown */
} dck_cost_peer;

/* Reads the counter dck_cost_peers[as]. Returns false if `as` is out of range. All strings are
 * static. @since 0.1 */
DCK_API bool dck_cost_peer_get(int as, dck_cost_peer *ret);

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_cost_config_init_sized(dck_cost_config *c, uint32_t struct_size);
static inline void dck_cost_config_init(dck_cost_config *c)
{
	dck_cost_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Counts the cost of the model of s (kind MODEL; s->model gives sizes: batch, shape, dim,
 * image_size, seq, and with `run` the engine). The record has one op for each operator, in the
 * order of the graph, and the metrics cost/.... With a device other than the processor
 * (s->model.device) its limits are measured, and the record has the roofs of the operators, the
 * table cost/bounds and cost/attainable; of one that cannot be measured the note no-roofs. *ret is
 * owned: dck_record_free(). c NULL: defaults.
 * Errors: E_ARG, E_ABSENT, E_IO, E_FORMAT, E_LIMIT, E_NOMEM; with `run` also those of dck_bench().
 * @since 0.1 */
DCK_API dck_status dck_cost(const dck_subject *s, const dck_cost_config *c,
			    const dck_observer *watch, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* --- one operator, without a model --- */

/* An input tensor of an operator. */
typedef struct dck_cost_tensor {
	const char *dtype; /* "float32", "int64", "bfloat16"; "?": unknown; NULL: omitted */
	size_t rank;
	const int64_t *dim;
	/* The contents of a small tensor of integers, such as axes or a shape; NULL: unknown. */
	const int64_t *ints;
} dck_cost_tensor;

typedef enum dck_cost_attribute_kind {
	DCK_ATTRIBUTE_INT,
	DCK_ATTRIBUTE_REAL,
	DCK_ATTRIBUTE_TEXT,
	DCK_ATTRIBUTE_INTS
} dck_cost_attribute_kind;

typedef struct dck_cost_attribute {
	const char *name;
	dck_cost_attribute_kind kind;
	int64_t i;
	double real;
	const char *text;
	const int64_t *ints;
	size_t nints;
} dck_cost_attribute;

/* An operator, named as in dck_cost_operator_get(), with the inputs and attributes of ONNX's
 * documentation. */
typedef struct dck_cost_node {
	const char *domain, *name; /* domain NULL or "": ONNX's own */
	const dck_cost_tensor *inputs;
	size_t ninputs;
	const dck_cost_attribute *attributes;
	size_t nattributes;
	size_t noutputs; /* number of outputs in use */
} dck_cost_node;

/* The cost of one run of an operator; -1: unknown, for the reason `why`. */
typedef struct dck_cost_price {
	int64_t macs, flops, read_bytes, write_bytes;
	/* The first output; rank below 0: unknown. */
	int rank;
	int64_t dim[DCK_RANK_MAX];
	char why[200];
	/* The counts of dck_cost_peers, by their index; -1: unknown. */
	int64_t peers[DCK_COST_PEERS_MAX];
} dck_cost_price;

/* Computes the cost of one operator by the rules of dck_cost(). E_ABSENT: no rule for it; E_ARG: a
 * size below 0, a rank above DCK_RANK_MAX, an unknown type name; E_LIMIT: more than 4096 inputs,
 * outputs or attributes; E_NOMEM. @since 0.1 */
DCK_API dck_status dck_cost_price_get(const dck_cost_node *n, dck_cost_price *ret, dck_err *err);

#ifdef __cplusplus
}
#endif
#endif
