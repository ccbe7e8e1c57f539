/* overhead_record.h - the table of what methods cost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OVERHEAD_OVERHEAD_RECORD_H
#define OVERHEAD_OVERHEAD_RECORD_H

#include "profiler/overhead/overhead_run.h"

dck_status overhead_record_make(const overhead *o, dck_record **ret, dck_err *err);

#endif
