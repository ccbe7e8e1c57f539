/* host.h - the machine as facts of a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_HOST_H
#define RECORD_HOST_H

#include "os/os.h"
#include "record/build.h"

/* Adds a text, absent if it is NULL or "": the system does not report it. */
void record_fact_known(record_builder *b, const char *section, const char *key, const char *text);
/* Adds section "host"; facts that the system does not report are absent. */
void record_host(record_builder *b, const os_host *host);
/* The same of this machine, as it is now. */
void record_host_here(record_builder *b);

#endif
