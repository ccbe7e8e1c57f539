/* module_path.h - module path of a node: the module of the network from which it was exported.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_MODULE_PATH_H
#define MODEL_MODULE_PATH_H

#include "base/mem.h"
#include "model/onnx/onnx.h"

/* Returns "layer1.0/conv1", from the exporter's metadata of the node, or from its name; owned by
 * the arena or the model. NULL: the node has no module, or it is not known. */
const char *module_path_of(mem_arena *a, const onnx_node *node);

/* Returns the bytes of the common prefix of two paths, in whole parts, which '/' and '.' separate.
 */
size_t module_path_common(const char *a, const char *b);

#endif
