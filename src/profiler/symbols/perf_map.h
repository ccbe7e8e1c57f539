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

/* /tmp/perf-PID.map, of the process's own /tmp while it lives; a file that is not there is an empty
 * one. @owned; NULL: no memory. */
perf_map *perf_map_open(pid_t pid);
void perf_map_close(perf_map *m);

/* Of code that was written twice to one place: the later name. Borrowed; NULL: none. */
const char *perf_map_find(const perf_map *m, uint64_t address);

#endif
