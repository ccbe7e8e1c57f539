/* cuda_names.h - readable names of kernels.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CUDA_CUDA_NAMES_H
#define CUDA_CUDA_NAMES_H

#include <stdint.h>

enum { CUDA_NAME_BYTES = 256 }; /* of dck_past_name() */

/* Writes the kernel's name without return type and parameters: "scale<float>" of
 * "_Z5scaleIfEvPT_i". Of a long name the end is replaced by a hash of all of it, so that two
 * kernels differ. */
void cuda_kernel_name(const char *mangled, char to[CUDA_NAME_BYTES]);
/* The same, as the id of dck_past_name(); cached by its content. One thread at a time. */
uint32_t cuda_kernel_id(const char *mangled);

#endif
