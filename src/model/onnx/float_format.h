/* float_format.h - the floating-point types of ONNX, of which C has only two: their values from
 * bits, and a number rounded to them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ONNX_FLOAT_FORMAT_H
#define ONNX_FLOAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* Rounds to the nearest integer, half to even, whatever rounding mode of the processor is set. */
double float_format_even(double x);
/* Returns whether the ONNX number is one of these types. */
bool float_format_is(int64_t onnx);
/* Rounds x to the type of that ONNX number, half to even; false: not one of these types. Beyond
 * the largest number, types of 16 bits and more become infinite. Types of 8 bits become the
 * largest number if `saturate`, else the result of the standard's Cast: infinity, or NaN without
 * one. */
bool float_format_round(int64_t onnx, bool saturate, double *x);
/* Returns the value of an element's bits; false: not one of these types. */
bool float_format_decode(int64_t onnx, uint64_t bits, double *ret);

#endif
