/* SPDX-License-Identifier: Apache-2.0 */
#include "record/lazy_jansson.h"

struct jansson_functions record_jansson;

/* Jansson's reader does not check every allocation, and a failure truncates a text. So our
 * allocators wrap its allocation functions and record failures; these may be the functions of the
 * program around us, which uses the same jansson. */
static struct {
	json_malloc_t alloc;
	json_free_t release;
} original;
static _Thread_local bool alloc_failed;

static void *alloc(size_t bytes)
{
	void *p = original.alloc(bytes);

	alloc_failed = alloc_failed || !p;
	return p;
}

static void jansson_watch(void)
{
	jansson->get_alloc_funcs(&original.alloc, &original.release);
	jansson->set_alloc_funcs(alloc, original.release);
}

static const char *const jansson_names[] = {JANSSON_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library library = OS_LAZY_THEN("libjansson.so.4", "reading records", jansson_names,
					      record_jansson, jansson_watch);

dck_status jansson_load(dck_err *err)
{
	return os_lazy_load(&library, err);
}

json_t *jansson_read(const char *text, size_t n, json_error_t *ret_at, bool *ret_no_memory)
{
	alloc_failed = false;
	json_t *root = jansson->loadb(text, n, JSON_REJECT_DUPLICATES, ret_at);
	*ret_no_memory = alloc_failed;
	if (alloc_failed && root) {
		jansson->delete (root);
		root = NULL;
	}
	return root;
}
