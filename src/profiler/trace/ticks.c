/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/ticks.h"

#if defined(__x86_64__)
bool ticks_are_tsc;
#endif
