/* perf_map.h - names of the functions that a process made while it ran, from the file that
 * compilers at run time write for perf: lines "address size name", in hexadecimal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_PERF_MAP_H
#define STACK_SYMBOLS_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct perf_map perf_map;

/* Reads /tmp/perf-PID.map, in the process's own /tmp while it runs; a missing file gives an empty
 * map. @owned; NULL: no memory. */
perf_map *perf_map_open(pid_t pid);
void perf_map_close(perf_map *m);

/* Returns the name of the code at an address; if code was written there twice, the later name.
 * Borrowed; NULL: none. */
const char *perf_map_find(const perf_map *m, uint64_t address);

#endif
