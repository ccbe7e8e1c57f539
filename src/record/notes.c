/* notes.c - the table of notes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/name_index.h"
#include "record/build.h"

static const dck_note_def note_defs[] = {
#define NOTE(code_, severity_, when_, remedy_) \
	{(code_), DCK_##severity_, (when_), (remedy_), false},
#define NOTE_OWN_REMEDY(code_, severity_, when_, remedy_) \
	{(code_), DCK_##severity_, (when_), (remedy_), true},
#include "record/notes.def"
#undef NOTE
#undef NOTE_OWN_REMEDY
};

const char *dck_severity_text(dck_severity s)
{
	static const char *const texts[] = {
	    [DCK_INFO] = "info", [DCK_WARN] = "warning", [DCK_ERROR] = "error"};

	return (unsigned)s <= DCK_ERROR ? texts[s] : "?";
}

const dck_note_def *dck_note_defs(size_t *ret_n)
{
	*ret_n = sizeof note_defs / sizeof note_defs[0];
	return note_defs;
}

const dck_note_def *record_note_find(const char *code)
{
	return NAME_ROW(note_defs, sizeof note_defs / sizeof note_defs[0], code, code);
}
