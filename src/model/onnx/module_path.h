/* module_path.h - the module of the trained network that a node of the graph was exported from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_MODULE_PATH_H
#define MODEL_MODULE_PATH_H

#include "base/mem.h"
#include "model/onnx/onnx.h"

/* "layer1.0/conv1": from what the exporter wrote beside the node, or from its name; in the arena or
 * the model's. NULL: it is of no module, or none is known. */
const char *module_path_of(mem_arena *a, const onnx_node *node);

/* How many bytes of path a are also the module of path b: whole parts, which '/' and '.' part. */
size_t module_path_common(const char *a, const char *b);

#endif
