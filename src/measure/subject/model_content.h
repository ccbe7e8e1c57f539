/* model_content.h - a hash of all that a model is: its file and the files that have its weights.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_MODEL_CONTENT_H
#define SUBJECT_MODEL_CONTENT_H

#include <stdint.h>

/* Returns a hash of the content of a model's file; of the files that an ONNX model names for its
 * external data, and of the .bin of an .xml; of a directory, of all files in it. 0: it cannot be
 * read. A file that alone is the model has os_file_hash(). */
uint64_t model_content_hash(const char *path);

#endif
