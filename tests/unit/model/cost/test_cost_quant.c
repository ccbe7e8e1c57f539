/* test_cost_quant.c - shapes and costs of ONNX's quantised operators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "op_case.h"

static const op_case cases[] = {
    {"QuantizeLinear", NULL, 0, "x:f[2,3] s:*f[] z:*b[]", "y", NULL, "b[2,3]", "0", "30", "0"},
    {"QuantizeLinear", NULL, 0, "x:f[2,3] s:*f[]", "y", NULL, "u[2,3]", "0", "30", "0"},
    {"QuantizeLinear", NULL, 21, "x:f[2,3] s:*f[]", "y", "output_dtype=3", "b[2,3]", "0", "30",
     "0"},
    {"DequantizeLinear", NULL, 0, "x:u[2,3] s:*h[] z:*u[]", "y", NULL, "h[2,3]", "0", "12", "0"},
    {"DynamicQuantizeLinear", NULL, 0, "x:f[2,3]", "y s z", NULL, "u[2,3] f[] u[]", "0", "42", "0"},
    {"MatMulInteger", NULL, 0, "a:u[N,2,3] b:*b[3,4]", "y", NULL, "i[N,2,4]", "24*N", "48*N", "12"},
    {"MatMulInteger", NULL, 0, "a:u[3] b:b[3]", "y", NULL, "i[]", "3", "6", "0"},
    {"MatMulInteger", NULL, 0, "a:u[2,3] b:b[4,4]", "y", NULL, "?", "?", "?", NULL},
    {"QLinearMatMul", NULL, 0, "a:u[2,3] as:*f[] az:*u[] b:*b[3,4] bs:*f[] bz:*b[] ys:*f[] yz:*u[]",
     "y", NULL, "u[2,4]", "24", "88", "12"},
    {"ConvInteger", NULL, 0, "x:u[1,2,5,5] w:*u[3,2,3,3]", "y", "pads=1,1,1,1", "i[1,3,5,5]",
     "1350", "2700", "54"},
    {"QLinearConv", NULL, 0,
     "x:u[1,2,5,5] xs:*f[] xz:*u[] w:*b[3,2,3,3] ws:*f[3] wz:*b[3] ys:*f[] yz:*u[] b:*i[3]", "y",
     NULL, "u[1,3,3,3]", "486", "1134", "57"},
    {"QLinearConv", NULL, 0, "x:u[1,2,5,5] xs:*f[] xz:*u[]", "y", NULL, "?", "?", "?", "0"},
};

static void counts_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		op_case_check(&cases[i]);
}

int test_cost_quant(void);
int test_cost_quant(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
