/* onnx_tensor.c - element types, sizes of tensors, and the values of small ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/onnx_schema.h"
#include "base/dtype.h"
#include "base/err.h"
#include "model/onnx/float_format.h"

bool onnx_dtype_integer(int64_t dtype)
{
	return (dtype >= ONNX_UINT8 && dtype <= ONNX_INT64) || dtype == ONNX_UINT32 ||
	       dtype == ONNX_UINT64 || dtype == 21 || dtype == 22 || dtype == 25 || dtype == 26;
}

bool onnx_dtype_real(int64_t dtype)
{
	return dtype == ONNX_FLOAT || dtype == ONNX_FLOAT16 || dtype == ONNX_DOUBLE ||
	       dtype == ONNX_BFLOAT16;
}

/* Which fields of TensorProto hold data, and how. */
typedef struct data_field {
	uint32_t number;
	wire_type type;
} data_field;
static const data_field data_fields[] = {
    {4, WIRE_FIXED32}, {5, WIRE_VARINT}, {7, WIRE_VARINT}, {10, WIRE_FIXED64}, {11, WIRE_VARINT},
};

/* Element i of raw_data, sign-extended by the type. */
static uint64_t raw_element(const uint8_t *raw, size_t i, size_t size, int64_t dtype)
{
	uint64_t v = 0;

	for (size_t b = size; b-- > 0;)
		v = v << 8 | raw[i * size + b];
	bool is_signed = dtype == ONNX_INT8 || dtype == ONNX_INT16 || dtype == ONNX_INT32;
	if (is_signed && v >> (8 * size - 1))
		v |= ~(uint64_t)0 << (8 * size);
	return v;
}

typedef struct tensor_values {
	uint64_t bits[ONNX_INTS_MAX];
	size_t n;
} tensor_values;

static dck_status read_values(onnx_reading *p, wire_reader r, const onnx_tensor *t,
			      tensor_values *v)
{
	size_t size = dtype_onnx_bits(t->dtype) / 8;
	uint8_t raw[ONNX_INTS_MAX * 8];
	wire_field w;
	bool more = true;

	for (;;) {
		DCK_TRY(wire_next(&r, NULL, NULL, &w, &more, p->err));
		if (!more)
			return DCK_OK;
		if (w.number == 9 && w.type == WIRE_BYTES && w.value == t->elements * size) {
			DCK_TRY(wire_source_copy(r.source, w.data, (size_t)w.value, raw, p->err));
			for (v->n = 0; v->n < t->elements; v->n++)
				v->bits[v->n] = raw_element(raw, v->n, size, t->dtype);
		}
		for (size_t i = 0; i < sizeof data_fields / sizeof *data_fields; i++) {
			const data_field *d = &data_fields[i];
			wire_reader in;

			if (d->number != w.number)
				continue;
			if (w.type == d->type && v->n < t->elements) {
				v->bits[v->n++] = w.value;
			} else if (w.type == WIRE_BYTES) {
				DCK_TRY(wire_enter(&r, &w, r.what, &in, p->err));
				while (in.at < in.end && v->n < t->elements)
					DCK_TRY(wire_packed_next(&in, d->type, &v->bits[v->n++],
								 p->err));
			}
		}
	}
}

static dck_status tensor_keep_values(onnx_reading *p, onnx_tensor *t, wire_reader r)
{
	bool real = float_format_is(t->dtype);
	bool integer = t->dtype == ONNX_BOOL ||
		       (onnx_dtype_integer(t->dtype) && dtype_onnx_bits(t->dtype) >= 8);
	tensor_values v;

	size_t most = real ? ONNX_REALS_MAX : integer ? ONNX_INTS_MAX : 0;
	if (!most || t->elements > most || t->location == 1)
		return DCK_OK;
	v.n = 0;
	DCK_TRY(read_values(p, r, t, &v));
	if (v.n != t->elements)
		return DCK_OK; /* the engine will complain, not we */
	if (real)
		t->reals = mem_arena_array(p->arena, v.n, sizeof *t->reals);
	else
		t->ints = mem_arena_array(p->arena, v.n, sizeof *t->ints);
	if (!t->reals && !t->ints)
		return onnx_fail_memory(p, &r, v.n * 8);
	for (size_t i = 0; i < v.n; i++) {
		if (real)
			(void)float_format_decode(t->dtype, v.bits[i], &t->reals[i]);
		else
			t->ints[i] = (int64_t)v.bits[i];
	}
	return DCK_OK;
}

dck_status onnx_tensor_after(onnx_reading *p, void *object, wire_reader r)
{
	onnx_tensor *t = object;
	uint64_t n = 1;
	unsigned bits = dtype_onnx_bits(t->dtype);

	for (size_t i = 0; i < t->rank; i++) {
		if (t->dims[i] < 0)
			return wire_fail(&r, p->err, "tensor '%.80s' has dimension %lld",
					 t->name ? t->name : "", (long long)t->dims[i]);
		if (t->dims[i] == 0)
			n = 0;
	}
	for (size_t i = 0; i < t->rank && n; i++)
		if (__builtin_mul_overflow(n, (uint64_t)t->dims[i], &n) || n > INT64_MAX / 16)
			DCK_FAIL(p->err, E_LIMIT,
				 "%s has a tensor '%.80s' of more than 2^59 elements",
				 r.source->label, t->name ? t->name : "");
	t->elements = n;
	t->bytes = n / 8 * bits + (n % 8 * bits + 7) / 8;
	return tensor_keep_values(p, t, r);
}
