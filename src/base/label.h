/* label.h - names of several things that are looked at side by side, without what all share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LABEL_H
#define BASE_LABEL_H

#include <stddef.h>

/* Bytes at the beginning of each of the n names that tell none from another: the directories that
 * all lie in. "/a/b/m1.onnx" and "/a/b/m2.onnx": those of "/a/b/". 0 of fewer than two. */
size_t label_shared(const char *const *names, size_t n);

#endif
