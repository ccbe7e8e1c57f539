/* operators.h - reads operators, their device work and their modules from a torch.profiler trace.
 *
 * torch.profiler (Kineto) classifies a range by its category: an operator (cpu_op), a call into
 * CUDA (cuda_runtime), a kernel or a copy on a device, which has the number "External id" of the
 * operator that started it, a Python function, of which those called "nn.Module: Linear_0" are
 * modules. A backward operator has the "Sequence number" of the forward operator that it belongs
 * to, and a "Fwd thread id"; it is charged to that operator's module.
 *
 * It receives a timeline like zone_collect.h, and forwards all events to zone_collect.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_OPERATORS_H
#define IMPORT_OPERATORS_H

#include "profiler/read/zone_collect.h"

typedef struct operators operators;

/* It opens with operators_sink()'s sink, and its trace is over when the collection is freed. */
extern const trace_format operators_format;
/* Names of the range arguments that it reads, NULL-terminated: for chrome_read(). */
extern const char *const operators_numbers[];
/* The same, and operators are distinguished by the shapes of their inputs. */
extern const char *const operators_numbers_shaped[];

dck_status operators_new(operators **ret, dck_err *err);
/* As zone_collect_want(). */
void operators_want(operators *o, const zone_percentiles *p);
/* As zone_collect_draw(). */
void operators_draw(operators *o, timeline_lod *p);
void operators_free(operators *o); /* NULL is allowed */
void operators_sink(operators *o, dck_sink *ret);
/* If the file has operators, writes the tables "operators" and "modules", the tree "modules", and
 * missing data as absent facts of section "trace"; then the output of zone_collect. */
dck_status operators_put(operators *o, record_builder *b, dck_err *err);

#endif
