/* onnx_schema.h - the messages of onnx.proto as tables: field number, type, offset in the struct.
 * One decoder walks them, so that all messages have the same checks. Fields that are in no table
 * are skipped by their length; so tensor data is never read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_ONNX_SCHEMA_H
#define MODEL_ONNX_SCHEMA_H

#include "model/onnx/onnx.h"
#include "base/wire.h"

typedef enum onnx_kind {
	AS_INT,	   /* int64_t; varint */
	AS_FLOAT,  /* float */
	AS_TEXT,   /* const char * */
	AS_BYTES,  /* onnx_text */
	AS_LENGTH, /* uint64_t; the bytes of a field that stays in the file */
	AS_INTS,   /* int64_t * and count */
	AS_FLOATS, /* float * and count */
	AS_TEXTS,  /* const char ** and count */
	AS_TEXTNS, /* onnx_text * and count */
	AS_ONE,	   /* pointer to a message; a second one merges into the first, as in protobuf */
	AS_MANY	   /* array of messages and count */
} onnx_kind;

#define ONNX_FIELDS_MAX 32

typedef struct onnx_message onnx_message;

typedef struct onnx_field {
	onnx_kind kind;
	size_t at, count; /* offsets in the struct */
	const char *name; /* NULL: no such field */
	const onnx_message *of;
} onnx_field;

typedef struct onnx_reading {
	mem_arena *arena;
	size_t limit; /* of the arena */
	char *text;   /* address of the next text, and the free bytes there */
	size_t text_cap, text_block;
	dck_err *err;
} onnx_reading;

struct onnx_message {
	const char *what; /* "a node": the position in the file, for messages */
	size_t size;
	const onnx_field *fields; /* by number */
	size_t nfields;		  /* at most ONNX_FIELDS_MAX */
	const void *initial;	  /* NULL: zeros */
	/* Called when the fields are read, if one of `left` occurred (bit by number; 0: always); r
	 * is at the start of the message. */
	uint32_t left;
	dck_status (*after)(onnx_reading *p, void *object, wire_reader r);
};

/* onnx_schema.c */
extern const onnx_message onnx_model_message, onnx_tensor_message;

/* onnx_decode.c: reads the message at r into object. */
dck_status onnx_decode(onnx_reading *p, const onnx_message *m, wire_reader r, void *object);
/* Fails because the arena refused `wanted` more bytes: E_LIMIT or E_NOMEM. */
dck_status onnx_fail_memory(onnx_reading *p, const wire_reader *r, size_t wanted);

/* onnx_metadata.c: read the module's path from the node's metadata, and how a tensor became a
 * constant from the metadata of the graph and the value. */
dck_status onnx_node_after(onnx_reading *p, void *object, wire_reader r);
dck_status onnx_graph_after(onnx_reading *p, void *object, wire_reader r);
dck_status onnx_value_after(onnx_reading *p, void *object, wire_reader r);

/* onnx_tensor.c: checks the dimensions, stores the values of small tensors. */
dck_status onnx_tensor_after(onnx_reading *p, void *object, wire_reader r);

#endif
