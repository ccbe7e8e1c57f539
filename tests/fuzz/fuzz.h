/* fuzz.h - what a fuzz target is: one function, called with anything.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The name is libFuzzer's. Returns 0; must not crash, leak or run long. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#endif
