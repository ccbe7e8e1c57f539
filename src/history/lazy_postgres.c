/* SPDX-License-Identifier: Apache-2.0 */
#include "history/lazy_postgres.h"

struct pq_functions history_pq;

static const char *const pq_names[] = {PQ_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library pq_library = OS_LAZY(
    "libpq.so.5", "a history in PostgreSQL (Debian's package libpq5)", pq_names, history_pq);

dck_status pq_load(dck_err *err)
{
	return os_lazy_load(&pq_library, err);
}
