/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record_internal.h"
#include <string.h>

static const char *const unit_texts[] = {
#define X(name, text) text,
    DCK_UNIT_MAP(X)
#undef X
};
_Static_assert(sizeof unit_texts / sizeof unit_texts[0] == DCK_UNIT_COUNT, "one text per unit");

const char *dck_unit_text(dck_unit u)
{
	return (unsigned)u < DCK_UNIT_COUNT ? unit_texts[u] : "";
}

bool record_find_unit(const char *text, dck_unit *ret)
{
	for (unsigned i = 0; i < DCK_UNIT_COUNT; i++) {
		if (strcmp(unit_texts[i], text) == 0) {
			*ret = (dck_unit)i;
			return true;
		}
	}
	return false;
}
