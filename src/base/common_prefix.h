/* common_prefix.h - names of several things shown side by side, without their common prefix.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LABEL_H
#define BASE_LABEL_H

#include <stddef.h>

/* Length of the common prefix of the n names: the directories that
 * all lie in. "/a/b/m1.onnx" and "/a/b/m2.onnx": those of "/a/b/". 0 of fewer than two. */
size_t common_prefix(const char *const *names, size_t n);

#endif
