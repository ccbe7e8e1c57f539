/* test_cost_tensor.c - shapes of operators that move, create, select and reshape data.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "op_case.h"

static const op_case reshapes[] = {
    {"Reshape", NULL, 0, "x:f[2,3,4] s:*l[3]=0,-1,2", "y", NULL, "f[2,6,2]", "0", "0", "0"},
    {"Reshape", NULL, 0, "x:f[N,T,12,64] s:*l[3]=0,0,768", "y", NULL, "f[N,T,768]", NULL, NULL,
     NULL},
    {"Reshape", NULL, 0, "x:f[N,T,768] s:*l[4]=0,0,12,-1", "y", NULL, "f[N,T,12,64]", NULL, NULL,
     NULL},
    {"Reshape", NULL, 0, "x:f[0,3] s:*l[2]=0,7", "y", "allowzero=1", "f[0,7]", NULL, NULL, NULL},
    {"Reshape", NULL, 0, "x:f[2,3] s:*l[1]=7", "y", NULL, "?", NULL, NULL, NULL},
    {"Reshape", NULL, 0, "x:f[2,3] s:*l[2]=-1,-1", "y", NULL, "?", NULL, NULL, NULL},
    {"Flatten", NULL, 0, "x:f[N,3,4]", "y", "axis=-1", "f[3*N,4]", NULL, NULL, NULL},
    {"Squeeze", NULL, 0, "x:f[1,N,1] a:*l[1]=-1", "y", NULL, "f[1,N]", NULL, NULL, NULL},
    {"Unsqueeze", NULL, 0, "x:f[N] a:*l[2]=0,-1", "y", NULL, "f[1,N,1]", NULL, NULL, NULL},
    {"Transpose", NULL, 0, "x:f[N,3,4]", "y", "perm=2,0,1", "f[4,N,3]", NULL, NULL, NULL},
    {"DepthToSpace", NULL, 0, "x:f[N,8,2,3]", "y", "blocksize=2", "f[N,2,4,6]", NULL, NULL, NULL},
    {"SpaceToDepth", NULL, 0, "x:f[N,2,4,6]", "y", "blocksize=2", "f[N,8,2,3]", NULL, NULL, NULL},
};

static const op_case picks[] = {
    {"Slice", NULL, 0, "x:f[5,6] s:*l[1]=-1 e:*l[1]=-9223372036854775808 a:*l[1]=1 p:*l[1]=-2", "y",
     NULL, "f[5,3]", NULL, NULL, NULL},
    {"Slice", NULL, 0, "x:f[N,6] s:*l[1]=1 e:*l[1]=4 a:*l[1]=-1", "y", NULL, "f[N,3]", NULL, NULL,
     NULL},
    {"Slice", NULL, 0, "x:f[5] s:*l[1]=0 e:*l[1]=5 a:*l[1]=0 p:*l[1]=0", "y", NULL, "?", NULL, NULL,
     NULL},
    /* Engines differ on the largest end of a backward step. */
    {"Slice", NULL, 0, "x:f[5] s:*l[1]=4 e:*l[1]=9223372036854775807 a:*l[1]=0 p:*l[1]=-1", "y",
     NULL, "f[u1]", NULL, NULL, NULL},
    {"Split", NULL, 0, "x:f[6,N] s:*l[2]=2,4", "a b", NULL, "f[2,N] f[4,N]", NULL, NULL, NULL},
    {"Split", NULL, 18, "x:f[7]", "a b c", "num_outputs=3", "f[3] f[3] f[1]", NULL, NULL, NULL},
    /* two and two leave one element for two parts; five do not split into two equal parts */
    {"Split", NULL, 18, "x:f[5]", "a b c d", "num_outputs=4", "? ? ? ?", NULL, NULL, NULL},
    {"Split", NULL, 13, "x:f[5]", "a b", NULL, "? ?", NULL, NULL, NULL},
    {"Gather", NULL, 0, "x:*f[30,8] i:l[N,T]", "y", NULL, "f[N,T,8]", NULL, NULL, "240"},
    {"GatherND", NULL, 0, "x:f[2,3,4] i:l[2,5,1]", "y", "batch_dims=1", "f[2,5,4]", NULL, NULL,
     NULL},
    {"ScatterND", NULL, 18, "x:f[4,6] i:l[4,1] u:f[4,6]", "y", NULL, "f[4,6]", "0", "0", NULL},
    {"ScatterND", NULL, 18, "x:f[4,6] i:l[4,1] u:f[4,6]", "y", "reduction=add", "f[4,6]", "0", "24",
     NULL},
    {"ScatterElements", NULL, 18, "x:f[4,6] i:l[2,3] u:f[2,3]", "y", "reduction=max", "f[4,6]", "0",
     "6", NULL},
    {"TopK", NULL, 0, "x:f[N,9] k:*l[1]=4", "y i", NULL, "f[N,4] l[N,4]", NULL, NULL, NULL},
    {"Concat", NULL, 0, "x:f[N,3] y:f[N,4]", "z", "axis=-1", "f[N,7]", NULL, NULL, NULL},
    {"Expand", NULL, 0, "x:f[3,1] s:*l[3]=2,1,6", "y", NULL, "f[2,3,6]", NULL, NULL, NULL},
    {"Tile", NULL, 0, "x:f[N,3] r:*l[2]=2,3", "y", NULL, "f[2*N,9]", NULL, NULL, NULL},
    {"Pad", NULL, 0, "x:f[3,4] p:*l[4]=1,-1,2,0", "y", NULL, "f[6,3]", NULL, NULL, NULL},
    {"Where", NULL, 0, "c:t[3,1] x:f[4] y:f[2,1,1]", "z", NULL, "f[2,3,4]", NULL, NULL, NULL},
    {"Crop", NULL, 7, "x:f[N,3,8,9]", "y", "border=1,2,3,1", "f[N,3,5,5]", "0", "0", NULL},
    {"Crop", NULL, 7, "x:f[N,3,8,9]", "y", "border=1,2,3,1 scale=4,2", "f[N,3,4,2]", "0", "0",
     NULL},
    {"DynamicSlice", NULL, 7, "x:f[N,6] s:*l[1]=1 e:*l[1]=4 a:*l[1]=1", "y", NULL, "f[N,3]", "0",
     "0", NULL},
};

static const op_case makes[] = {
    {"ConstantOfShape", NULL, 0, "s:*l[2]=2,3", "y", NULL, "f[2,3]", NULL, NULL, NULL},
    {"Range", NULL, 0, "a:*l[]=10 b:*l[]=0 d:*l[]=-3", "y", NULL, "l[4]", NULL, NULL, NULL},
    {"Shape", NULL, 0, "x:f[2,3,4]", "y", "start=-2", "l[2]", NULL, NULL, NULL},
    {"Shape", NULL, 0, "x:f[2,3,4,2]", "y", "start=-3 end=-5", "l[0]", NULL, NULL, NULL},
    {"OneHot", NULL, 0, "i:l[N] d:*l[]=10 v:f[2]", "y", NULL, "f[N,10]", NULL, NULL, NULL},
    {"Resize", NULL, 19, "x:f[1,1,8,4] - - s:*l[2]=15,9", "y",
     "axes=2,3 keep_aspect_ratio_policy=not_smaller", "f[1,1,18,9]", NULL, NULL, NULL},
    {"Resize", NULL, 19, "x:f[1,1,5,7] - - s:*l[2]=4,8", "y",
     "axes=-2,-1 keep_aspect_ratio_policy=not_larger", "f[1,1,4,6]", NULL, NULL, NULL},
    /* Scales, and an empty list of sizes */
    {"Resize", NULL, 13, "x:f[1,1,4,4] - s:*h[4]=15360,15360,16384,16384 z:*l[0]", "y", NULL,
     "f[1,1,8,8]", NULL, NULL, NULL},
};

static void check(const op_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		op_case_check(&cases[i]);
}

static void reshapes_are_exact(void **state)
{
	(void)state;
	check(reshapes, sizeof reshapes / sizeof *reshapes);
}

static void picks_are_exact(void **state)
{
	(void)state;
	check(picks, sizeof picks / sizeof *picks);
}

static void made_values_are_exact(void **state)
{
	(void)state;
	check(makes, sizeof makes / sizeof *makes);
}

int test_cost_tensor(void);
int test_cost_tensor(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reshapes_are_exact),
	    cmocka_unit_test(picks_are_exact),
	    cmocka_unit_test(made_values_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
