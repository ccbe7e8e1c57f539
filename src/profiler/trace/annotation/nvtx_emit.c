/* nvtx_emit.c - client side of the NVTX injection protocol: passes the zones of a program to a tool
 * that implements NVTX, such as Nsight Systems. Layouts and numbers are from NVTX 3,
 * https://github.com/NVIDIA/NVTX (see nvtx.c).
 *
 * The handshake: the first zone loads the library that NVTX_INJECTION64_PATH names, or finds one
 * that is linked into the program, and calls its InitializeInjectionNvtx2(get_table). The tool
 * requests the table of each module (get_module()) and stores its functions there. Then `state`
 * becomes ATTACHED, stored with release and loaded with acquire order, and `given` is constant.
 *
 * A compare-and-swap selects the thread that loads the tool. Until it is done, zones of other
 * threads and of the tool itself are not forwarded: no thread waits. Without a tool LISTEN_EMIT is
 * cleared and zones cost nothing here.
 *
 * The tool has its own ids of ranges. `ranges` maps ours to them, a direct-mapped hash table
 * without a lock: on a collision the older range never ends for the tool.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/annotation/nvtx_emit.h"

#include "base/hash.h"
#include "os/os.h"
#include "profiler/trace/thread_buffer.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_VERSION = 3, MODULES = 7, SLOTS = 18, NVTX_VERSION = 3 };
enum { CORE = 1, MARK_EX = 1, START = 5, END = 7, PUSH = 9, POP = 11 };

typedef void (*any_function)(void);

/* By module: the functions that the tool stored, and the table of pointers to them that it gets. */
static any_function given[MODULES][SLOTS];
static any_function *places[MODULES][SLOTS];

/* nvtxEventAttributes_t of version 3 */
typedef struct emit_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_kind;
	uint32_t colour;
	int32_t payload_kind, reserved;
	double payload;
	int32_t message_kind;
	const char *message;
} emit_attributes;
enum { PAYLOAD_DOUBLE = 3, MESSAGE_ASCII = 1 };

typedef int initialize(const void *(*get_table)(uint32_t id));

/* A tool that is linked into the program defines this. */
extern initialize *InitializeInjectionNvtx2_fnptr __attribute__((weak));

enum { FRESH, BEGUN, ATTACHED };
static _Atomic int state;
static int *flags;

/* --- the handshake */

/* The length of each module's table, as tools expect it; entry 0 is unused. */
static const unsigned char module_sizes[MODULES] = {0, 16, 9, 15, 7, 16, 7};

static int get_module(int module, any_function ***ret_table, unsigned *ret_size)
{
	if (module < CORE || module >= MODULES)
		return 0;
	for (unsigned i = 1; i < module_sizes[module]; i++)
		places[module][i] = &given[module][i];
	if (ret_table)
		*ret_table = places[module];
	if (ret_size)
		*ret_size = module_sizes[module];
	return 1;
}

static void set_version(uint32_t version)
{
	(void)version;
}

static const void *emit_table_get(uint32_t id)
{
	static const struct {
		size_t size;
		int (*get)(int module, any_function ***ret_table, unsigned *ret_size);
	} callbacks = {sizeof callbacks, get_module};
	static const struct {
		size_t size;
		uint32_t version, reserved;
		void (*set)(uint32_t version);
	} about = {sizeof about, NVTX_VERSION, 0, set_version};

	return id == NVTX_TABLE_CALLBACKS ? (const void *)&callbacks
	       : id == TABLE_VERSION	  ? (const void *)&about
					  : NULL;
}

/* Returns the tool's library that the environment names. Not our own or a copy of it, which would
 * record the program twice. */
static const char *emit_named(void)
{
	static const char *const ours[] = {"libdeepclock.so", "libdeepclock_zones.so"};
	const char *path = secure_getenv("NVTX_INJECTION64_PATH"), *slash, *file;

	if (!path || !*path)
		return NULL;
	slash = strrchr(path, '/');
	file = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (strncmp(file, ours[i], strlen(ours[i])) == 0)
			return NULL;
	return path;
}

static initialize *tool_find(void)
{
	static os_library *l; /* stays loaded, as it does with NVTX */
	const char *path = emit_named();
	initialize *found = NULL;

	if (path && os_library_open(path, &l, NULL) == DCK_OK)
		os_library_function(l, "InitializeInjectionNvtx2", &found);
	if (!found && &InitializeInjectionNvtx2_fnptr)
		found = InitializeInjectionNvtx2_fnptr;
	return found;
}

void nvtx_emit_begin(int *all)
{
	flags = all;
	if (emit_named() || &InitializeInjectionNvtx2_fnptr)
		__atomic_or_fetch(flags, LISTEN_EMIT, __ATOMIC_SEQ_CST);
}

/* Returns the tool's function, or NULL if it has none. Does not wait while another thread, or a
 * caller on this stack, loads the tool. */
static any_function emit_function(int number)
{
	int fresh = FRESH;

	if (atomic_load_explicit(&state, memory_order_acquire) == ATTACHED)
		return given[CORE][number];
	if (!atomic_compare_exchange_strong(&state, &fresh, BEGUN))
		return NULL;
	initialize *f = tool_find();
	if (f && f(emit_table_get)) {
		atomic_store_explicit(&state, ATTACHED, memory_order_release);
		return given[CORE][number];
	}
	__atomic_and_fetch(flags, ~LISTEN_EMIT, __ATOMIC_SEQ_CST);
	return NULL;
}

/* --- events */

/* The open range is the recorder's (NVTX_EMIT_NOT), with nothing in it. */
static _Thread_local bool own;

void nvtx_emit_push(const char *name)
{
	own = !strcmp(name, NVTX_EMIT_NOT);
	int (*f)(const char *) = own ? NULL : (int (*)(const char *))emit_function(PUSH);
	if (f)
		(void)f(name);
}

void nvtx_emit_pop(void)
{
	int (*f)(void) = own ? NULL : (int (*)(void))emit_function(POP);

	own = false;
	if (f)
		(void)f();
}

static void emit_mark(const emit_attributes *a)
{
	void (*f)(const emit_attributes *) =
	    (void (*)(const emit_attributes *))emit_function(MARK_EX);

	if (f)
		f(a);
}

void nvtx_emit_mark(const char *name)
{
	emit_mark(&(emit_attributes){.version = NVTX_VERSION,
				     .size = sizeof(emit_attributes),
				     .message_kind = MESSAGE_ASCII,
				     .message = name});
}

void nvtx_emit_number(const char *name, double value)
{
	emit_mark(&(emit_attributes){.version = NVTX_VERSION,
				     .size = sizeof(emit_attributes),
				     .payload_kind = PAYLOAD_DOUBLE,
				     .payload = value,
				     .message_kind = MESSAGE_ASCII,
				     .message = name});
}

/* Maps our ids of ranges to the tool's. On a collision the older range never ends for the tool. */
enum { RANGES = 4096 };
static struct range {
	_Atomic uint64_t ours, theirs;
} ranges[RANGES];

static struct range *emit_range_at(uint64_t id)
{
	return &ranges[hash_number(HASH_START, id) % RANGES];
}

uint64_t nvtx_emit_start(const char *name, uint64_t id)
{
	static _Atomic uint64_t last = UINT64_C(1) << 61; /* recorded ranges have lower ids */
	uint64_t (*f)(const char *) = (uint64_t(*)(const char *))emit_function(START);

	if (!id)
		id = ++last;
	if (f) {
		struct range *r = emit_range_at(id);

		atomic_store(&r->ours, 0);
		atomic_store(&r->theirs, f(name));
		atomic_store(&r->ours, id);
	}
	return id;
}

void nvtx_emit_end(uint64_t id)
{
	void (*f)(uint64_t) = (void (*)(uint64_t))emit_function(END);
	struct range *r = emit_range_at(id);
	const uint64_t theirs = atomic_load(&r->theirs);

	if (f && atomic_compare_exchange_strong(&r->ours, &id, 0))
		f(theirs);
}
