/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/path_trie.h"
#include "base/units.h"

#include "base/err.h"
#include "record/tree/tree_prune.h"

dck_status path_trie_put(const path_trie *p, const char *name, const char *title,
			 const char *(*name_of)(void *self, uint32_t name), void *self,
			 record_builder *b, dck_err *err)
{
	dck_tree t;

	DCK_TRY(path_trie_tree(p, false, name_of, self, &t, err));
	t.name = name;
	t.title = title;
	dck_status status = tree_prune_put(&t, b, err);
	path_trie_tree_done(&t);
	if (p->lost > 0) {
		record_note(b, "trace-paths", "%llu %s in the table of %s, but not in the tree: %s",
			    (unsigned long long)p->lost, COUNTED(p->lost, "call is", "calls are"),
			    name,
			    p->failed ? "there was no memory for their call paths"
				      : "there are too many call paths, or they are too deep");
		record_remedy(b, "%s",
			      p->failed ? "free some, or record a shorter part"
					: "name zones by what they do, not by what they work on");
	}
	return status;
}
