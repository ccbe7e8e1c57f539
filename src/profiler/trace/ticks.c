/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/ticks.h"

uint64_t ticks_ns_q32 = UINT64_C(1) << 32;

#if defined(__x86_64__)
bool ticks_are_tsc;
#endif
