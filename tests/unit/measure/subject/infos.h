/* infos.h - inputs of several shapes, and the options of a model in a line, for the tests of
 * subjects.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUBJECT_INFOS_H
#define TEST_SUBJECT_INFOS_H

#include "deepclock/bench.h"

#define F32                            \
	{                              \
		DCK_DTYPE_FLOAT, 32, 1 \
	}
#define I64                          \
	{                            \
		DCK_DTYPE_INT, 64, 1 \
	}
#define LIST(...)                                                                     \
	{                                                                             \
		{__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *) \
	}

#define CONFIG(...) ((dck_model_config){__VA_ARGS__})

/* x: N x 3 x H x W */
static const dck_tensor_info image = {.name = "x",
				      .dtype = F32,
				      .rank = 4,
				      .dim = {-1, 3, -1, -1},
				      .symbol = {"N", NULL, "height", "width"}};
static const dck_tensor_info fixed = {.name = "x", .dtype = F32, .rank = 2, .dim = {2, 3}};
static const dck_tensor_info unranked = {.name = "x", .dtype = F32, .rank = -1};
static const dck_tensor_info scalar = {.name = "x", .dtype = F32, .rank = 0};
/* Two inputs that share their symbols. */
static const dck_tensor_info pair[] = {
    {.name = "ids", .dtype = I64, .rank = 2, .dim = {-1, -1}, .symbol = {"batch", "seq"}},
    {.name = "mask", .dtype = I64, .rank = 2, .dim = {-1, -1}, .symbol = {"batch", "seq"}},
};

#endif
