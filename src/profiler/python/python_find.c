/* python_find.c - finds the interpreter's state (_PyRuntime) in another process: by ELF symbol or
 * section, else by scanning its memory.
 *
 * The mapped files whose names contain "python", and the program itself, are searched by symbol
 * (python_elf.h). If that fails and a mapped path contains "python", their writable memory is
 * scanned for the cookie of _Py_DebugOffsets (CPython 3.13 and later), then for two equal pointers
 * to an interpreter of a known version, which is recognised by its first thread: that points back
 * to it and belongs to the process. Last, all other files are searched by symbol. Before 3.11 a
 * thread's state has a pthread_t and no thread number: pthread_tid_find() searches the offset of
 * the number in struct pthread that fits all threads of the interpreter.
 *
 * Nothing of the process is trusted: every access goes through `memory`, which fails where nothing
 * is mapped. MAPS_MAX bounds /proc/PID/maps, SCAN_MAX the bytes of one scan. Symbols cost O(file),
 * a scan O(bytes). Needs the permissions of os_process_readable(); allocates, so it is not for
 * signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "profiler/python/python_elf.h"
#include "profiler/python/python_layout.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAPS_MAX = 64 << 20,
	SCAN_MAX = 64 << 20,
	SCAN_PART = 4096,
	TASKS_MAX = 4096,
	PATH_BYTES = 4096
};

typedef struct mapping {
	uint64_t start, end, offset;
	char access[5];
	const char *path; /* "": none */
} mapping;

typedef struct finding {
	int pid;
	const unwind_memory *memory;
	mapping *map;
	size_t n;
	char exe[PATH_BYTES];
} finding;

static bool python_get(const finding *f, uint64_t address, void *to, size_t n)
{
	return f->memory->read(f->memory->self, address, to, n);
}

/* Parses the lines of /proc/PID/maps. Their paths point into `text`. */
static bool maps_parse(char *text, finding *f)
{
	size_t lines = 1;

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	f->map = mem_zalloc(lines, sizeof *f->map);
	if (!f->map)
		return false;
	for (char *line = text, *next; *line; line = next) {
		mapping *m = &f->map[f->n];
		int path = 0;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m->start,
			   &m->end, m->access, &m->offset, &path) < 4 ||
		    path == 0)
			continue;
		m->path = line + path;
		f->n++;
	}
	return true;
}

/* Returns 3.9 for "libpython3.9.so.1.0", "/usr/lib/python3.9/..." or "_json.cpython-39-...so"; 0:
 * no version. */
static uint32_t version_in(const char *path)
{
	static const char *const before[] = {"python3.", "cpython-3"};

	for (size_t i = 0; i < 2; i++)
		for (const char *p = path; (p = strstr(p, before[i]));) {
			p += strlen(before[i]);
			unsigned minor = (unsigned)strtoul(p, NULL, 10);
			if (minor >= 3 && minor < 256)
				return 3u << 24 | minor << 16;
		}
	return 0;
}

/* Returns the version of a file without Py_Version, by its name, else by the names of other mapped
 * files. */
static uint32_t version_guess(const finding *f, const char *path)
{
	uint32_t version = version_in(os_path_base(path));

	for (size_t i = 0; i < f->n && !version; i++)
		version = version_in(f->map[i].path);
	return version;
}

/* Opens the file as the process sees it, because its root directory may differ from ours. */
static elf_file *python_file_of(const finding *f, const char *path)
{
	char there[PATH_BYTES + 32];
	elf_file *file;

	snprintf(there, sizeof there, "/proc/%d/root%s", f->pid, path);
	if (elf_file_open(there, &file, NULL) == DCK_OK ||
	    elf_file_open(path, &file, NULL) == DCK_OK)
		return file;
	return NULL;
}

static bool found_at(const finding *f, uint64_t runtime, uint32_t version, python_process *ret)
{
	return python_find_at(runtime, version, f->memory, ret);
}

static bool by_symbol(const finding *f, const mapping *m, python_process *ret,
		      uint32_t *ret_version)
{
	elf_file *file = python_file_of(f, m->path);
	python_symbols s = file ? python_symbols_of(file) : (python_symbols){0};
	uint64_t first = 0, bias;
	uint32_t version = 0;
	bool known = file && (elf_file_address_of(file, 0, false, &first) ||
			      elf_file_address_of(file, 0, true, &first));

	elf_file_close(file);
	if (!known || !s.runtime)
		return false;
	bias = m->start - first;
	if (!s.version || !python_get(f, bias + s.version, &version, sizeof version) || !version)
		version = version_guess(f, m->path);
	*ret_version = version;
	/* 0: only the offsets inside _PyRuntime (3.13) can help. */
	return found_at(f, bias + s.runtime, version, ret);
}

/* --- without symbols */

/* Returns the first address in the file's writable memory, .bss included, for which `is` returns
 * true; 0: none. */
static uint64_t python_scan(const finding *f, const char *path, size_t step,
			    bool (*is)(const finding *f, const unsigned char *at, const void *self),
			    const void *self)
{
	unsigned char part[SCAN_PART + 16];
	uint64_t last = 0, seen = 0;

	for (size_t i = 0; i < f->n && seen < SCAN_MAX; i++) {
		const mapping *m = &f->map[i];
		bool own = strcmp(m->path, path) == 0;

		/* .bss is an anonymous mapping that follows the file's data. */
		if (m->access[1] != 'w' || !(own || (m->start == last && !*m->path)))
			continue;
		last = m->end;
		for (uint64_t at = m->start; at < m->end && seen < SCAN_MAX; at += SCAN_PART) {
			size_t n = m->end - at < sizeof part ? (size_t)(m->end - at) : sizeof part;

			seen += SCAN_PART;
			if (!python_get(f, at, part, n))
				continue;
			for (size_t k = 0; k + 16 <= n && k < SCAN_PART; k += step)
				if (is(f, part + k, self))
					return at + k;
		}
	}
	return 0;
}

static bool is_cookie(const finding *f, const unsigned char *at, const void *self)
{
	(void)f, (void)self;
	return memcmp(at, PYTHON_COOKIE, strlen(PYTHON_COOKIE)) == 0;
}

/* _PyRuntime has pointers to the first and to the main interpreter, one after the other and mostly
 * equal. The interpreter's first thread points back to it and is a thread of the process. */
static bool is_interpreter(const finding *f, const unsigned char *at, const void *self)
{
	const python_layout *l = self;
	uint64_t twice[2], thread, before, back, id;
	char task[64];

	memcpy(twice, at, sizeof twice);
	if (!twice[0] || twice[0] != twice[1] || twice[0] % 8 ||
	    !python_get(f, twice[0] + l->interpreter_thread, &thread, sizeof thread) || !thread ||
	    thread % 8 || !python_get(f, thread, &before, sizeof before) || before ||
	    !python_get(f, thread + l->thread_interpreter, &back, sizeof back) || back != twice[0])
		return false;
	if (l->thread_tid == PYTHON_NONE) /* an address */
		return python_get(f, thread + l->thread_pthread, &id, sizeof id) &&
		       python_get(f, id, &back, sizeof back);
	if (!python_get(f, thread + l->thread_tid, &id, sizeof id))
		return false;
	snprintf(task, sizeof task, "/proc/%d/task/%" PRIu64, f->pid, id);
	return os_file_exists(task);
}

static bool by_scan(const finding *f, const char *path, uint32_t version, python_process *ret)
{
	python_layout l;
	uint64_t at = python_scan(f, path, 8, is_cookie, NULL);

	if (at && found_at(f, at, 0, ret))
		return true;
	if (!python_layout_known(version, &l))
		return false;
	at = python_scan(f, path, 8, is_interpreter, &l);
	return at && found_at(f, at - l.runtime_interpreter, version, ret);
}

/* --- thread numbers, before 3.11 */

typedef struct tasks {
	int tid[TASKS_MAX];
	size_t n;
} tasks;

static bool tasks_have(const tasks *t, int tid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->tid[i] == tid)
			return true;
	return false;
}

static void task_add(void *self, const char *path)
{
	tasks *t = self;

	if (t->n < TASKS_MAX)
		t->tid[t->n++] = atoi(os_path_base(path));
}

/* Returns the offset of the kernel's thread id in the structure that pthread_t points to: the
 * offset that contains a thread id of the process for each Python thread. glibc's (struct pthread,
 * nptl/descr.h) is tried first. */
static uint32_t pthread_tid_find(const finding *f, const python_process *p)
{
#if defined(__aarch64__)
	enum { USUAL = 208 };
#else
	enum { USUAL = 720 };
#endif
	enum { SEEN = 64, BYTES = 2048 };
	uint64_t thread[SEEN], interpreter, state;
	tasks *t = mem_zalloc(1, sizeof *t);
	uint32_t found = USUAL;
	size_t n = 0;
	char directory[64];

	if (!t)
		return found;
	snprintf(directory, sizeof directory, "/proc/%d/task", f->pid);
	os_glob_each(directory, "*", task_add, t);
	if (python_get(f, p->runtime + p->at.runtime_interpreter, &interpreter, 8) &&
	    python_get(f, interpreter + p->at.interpreter_thread, &state, 8))
		for (; state && n < SEEN &&
		       python_get(f, state + p->at.thread_pthread, &thread[n], 8);
		     n++)
			if (!python_get(f, state + p->at.thread_next, &state, 8))
				break;
	for (uint32_t i = 0; n && i < BYTES; i += 4) {
		uint32_t offset = i == 0 ? USUAL : i;
		size_t right = 0;
		int tid;

		while (right < n && python_get(f, thread[right] + offset, &tid, sizeof tid) &&
		       tasks_have(t, tid))
			right++;
		if (right == n) {
			found = offset;
			break;
		}
	}
	mem_free(t);
	return found;
}

/* --- */

static bool python_is_python(const finding *f, const mapping *m)
{
	return strstr(os_path_base(m->path), "python") || strcmp(m->path, f->exe) == 0;
}

/* Returns whether a file is mapped from its start, as each file is once. */
static bool is_file(const finding *f, const mapping *m)
{
	(void)f;
	return m->path[0] == '/' && m->offset == 0;
}

static bool look_everywhere(const finding *f, python_process *ret, uint32_t *ret_version)
{
	bool python = false;

	for (size_t i = 0; i < f->n; i++) {
		python |= strstr(f->map[i].path, "python") != NULL;
		if (is_file(f, &f->map[i]) && python_is_python(f, &f->map[i]) &&
		    by_symbol(f, &f->map[i], ret, ret_version))
			return true;
	}
	/* A program with an embedded interpreter under another name maps files of Python's
	 * library. */
	if (!python)
		return false;
	for (size_t i = 0; i < f->n && !*ret_version; i++) {
		const mapping *m = &f->map[i];

		if (!is_file(f, m) || !python_is_python(f, m))
			continue;
		uint32_t version = version_guess(f, m->path);
		if (by_scan(f, m->path, version, ret))
			return true;
	}
	for (size_t i = 0; i < f->n; i++)
		if (is_file(f, &f->map[i]) && !python_is_python(f, &f->map[i]) &&
		    by_symbol(f, &f->map[i], ret, ret_version))
			return true;
	return false;
}

dck_status python_find(int pid, const unwind_memory *memory, python_process *ret, dck_err *err)
{
	finding f = {.pid = pid, .memory = memory};
	dck_buffer text = {0};
	dck_status status;
	uint32_t version = 0;
	python_process p;
	char path[64];

	DCK_TRY(os_process_readable(pid, err));
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	DCK_TRY(os_read_file(path, MAPS_MAX, &text, err));
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	os_link_read(path, f.exe, sizeof f.exe);
	if (!maps_parse(text.data, &f))
		status = ERR_NO_MEMORY(err, "for the mappings of process %d", pid);
	else if (look_everywhere(&f, &p, &version)) {
		if (p.at.thread_tid == PYTHON_NONE)
			p.pthread_tid = pthread_tid_find(&f, &p);
		*ret = p;
		status = DCK_OK;
	} else if (version)
		status = ERR_SET(
		    err, E_UNSUP,
		    "process %d runs Python %u.%u, whose frames are not known: 3.8 to 3.14 are",
		    pid, version >> 24, PYTHON_MINOR(version));
	else
		status = ERR_SET(err, E_ABSENT, "process %d has no Python interpreter", pid);
	mem_free(f.map);
	dck_buffer_done(&text);
	return status;
}
