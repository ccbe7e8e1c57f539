/* test_engine_ort_find.c - the search path of ONNX Runtime, its order, and the messages about other
 * files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "engine/ort/ort_api.h"
#include "engine/library_find.h"
#include "fault_alloc.h"

#include <sys/stat.h>

extern const dck_engine engine_ort;

static const char *at(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", scratch_path, name);
	return path;
}

/* Creates an empty file and its parent directories. */
static void make(const char *name)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof path, "%s", at(name));
	for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0777);
	}
	int fd = open(path, O_CREAT | O_WRONLY, 0777);
	assert_true(fd >= 0);
	close(fd);
}

static int tree_make(void **state)
{
	if (scratch_begin(state))
		return -1;
	make("one/libonnxruntime.so.1.20.0");
	make("one/libonnxruntime.so.1.9.0");
	make("one/libonnxruntime_providers_shared.so");
	make("sdk/lib/libonnxruntime.so");
	make("wheel/onnxruntime/capi/libonnxruntime.so.1.31.1");
	make("old/onnxruntime/capi/onnxruntime_pybind11_state.cpython-38-x86_64-linux-gnu.so");
	make("empty/nothing");
	make("env/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.1");
	make("py/bin/python3");
	make("py/lib/python3/dist-packages/onnxruntime/capi/libonnxruntime.so.1.23.0");
	make("home/.local/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.24.0");
	make("oldenv/lib/python3.8/site-packages/onnxruntime/capi/"
	     "onnxruntime_pybind11_state.cpython-38-x86_64-linux-gnu.so");
	return 0;
}

/* Hides all settings of the machine. */
static int environment_empty(void **state)
{
	(void)state;
	unsetenv("DEEPCLOCK_ORT");
	unsetenv("ORT_DYLIB_PATH");
	unsetenv("DEEPCLOCK_PYTHON_ORT");
	unsetenv("VIRTUAL_ENV");
	setenv("PATH", at("empty"), 1);
	setenv("HOME", at("empty"), 1);
	return 0;
}

static void found(const char *asked, const char *path, const char *how)
{
	mem_arena *a = mem_arena_new(0);
	library_places p;
	dck_err err = {0};

	library_find(&ort_library, asked, a, &p, &err);
	assert_string_equal(err.msg, "");
	assert_int_equal(p.n, 1);
	assert_true(p.place[0].asked);
	assert_string_equal(p.place[0].path, at(path));
	assert_string_equal(p.place[0].how, how);
	mem_arena_free(a);
}

static void refused(const char *asked, dck_status code, const char *says)
{
	mem_arena *a = mem_arena_new(0);
	library_places p;
	dck_err err = {0};

	assert_int_equal(library_find(&ort_library, asked, a, &p, &err), code);
	assert_non_null(strstr(err.msg, says));
	mem_arena_free(a);
}

static void a_path_is_a_file_or_a_directory(void **state)
{
	char path[PATH_MAX * 2];

	(void)state;
	snprintf(path, sizeof path, "%s", at("one/libonnxruntime.so.1.9.0"));
	found(path, "one/libonnxruntime.so.1.9.0", "--engine-lib");
	snprintf(path, sizeof path, "%s", at("one"));
	found(path, "one/libonnxruntime.so.1.20.0", "--engine-lib"); /* 20 sorts after 9 */
	snprintf(path, sizeof path, "%s", at("sdk"));
	found(path, "sdk/lib/libonnxruntime.so", "--engine-lib");
	snprintf(path, sizeof path, "%s", at("wheel"));
	found(path, "wheel/onnxruntime/capi/libonnxruntime.so.1.31.1", "--engine-lib");
	snprintf(path, sizeof path, "%s", at("empty"));
	refused(path, DCK_E_ABSENT, "there is no libonnxruntime.so* in the directory");
	snprintf(path, sizeof path, "%s", at("old"));
	refused(path, DCK_E_VERSION, "without its C library: 1.19 or newer is needed");
	snprintf(
	    path, sizeof path, "%s",
	    at("old/onnxruntime/capi/onnxruntime_pybind11_state.cpython-38-x86_64-linux-gnu.so"));
	refused(path, DCK_E_VERSION, "is ONNX Runtime's Python module");
	snprintf(path, sizeof path, "%s", at("nowhere.so"));
	refused(path, DCK_E_ABSENT, "there is no file");
	refused("", DCK_E_ARG, "is empty");
	/* Directory names are not glob patterns: this one does not exist, though "one" and "sdk"
	 * do. */
	snprintf(path, sizeof path, "%s", at("[os][nd][ek]"));
	refused(path, DCK_E_ABSENT, "there is no file");
	make("[os]ne/nothing");
	snprintf(path, sizeof path, "%s", at("[os]ne"));
	refused(path, DCK_E_ABSENT, "there is no libonnxruntime.so* in the directory");
}

static void what_the_user_says_comes_first(void **state)
{
	char path[PATH_MAX * 2];

	(void)state;
	setenv("ORT_DYLIB_PATH", at("sdk"), 1);
	found(NULL, "sdk/lib/libonnxruntime.so", "ORT_DYLIB_PATH");
	setenv("DEEPCLOCK_ORT", at("one"), 1);
	found(NULL, "one/libonnxruntime.so.1.20.0", "DEEPCLOCK_ORT");
	snprintf(path, sizeof path, "%s", at("wheel"));
	found(path, "wheel/onnxruntime/capi/libonnxruntime.so.1.31.1", "--engine-lib");
	/* A wrong path is an error; there is no fallback. */
	setenv("DEEPCLOCK_ORT", at("nowhere"), 1);
	refused(NULL, DCK_E_ABSENT, "(DEEPCLOCK_ORT)");
	setenv("DEEPCLOCK_ORT", "", 1); /* an empty value counts as unset */
	found(NULL, "sdk/lib/libonnxruntime.so", "ORT_DYLIB_PATH");
}

static void each_allocation_may_fail(void **state)
{
	static const char *const directories[] = {"one", "wheel", NULL};
	char directory[PATH_MAX * 2];

	(void)state;
	setenv("VIRTUAL_ENV", at("env"), 1);
	setenv("PATH", at("py/bin"), 1);
	for (size_t i = 0; i < 3; i++) {
		snprintf(directory, sizeof(directory), "%s",
			 at(directories[i] ? directories[i] : ""));
		for (size_t n = 1;; n++) {
			library_places p;
			fault_alloc f;
			dck_err err = {0};

			fault_alloc_begin(&f, n);
			/* Small blocks, so that many allocations can fail. */
			mem_arena *a = mem_arena_new(16);
			dck_status status =
			    a ? library_find(&ort_library, directories[i] ? directory : NULL, a, &p,
					     &err)
			      : DCK_E_NOMEM;
			mem_arena_free(a);
			dck_set_allocator(NULL);
			assert_int_equal(f.out, 0);
			if (f.calls < n) {
				assert_int_equal(status, DCK_OK);
				break;
			}
			/* The interpreter's name is not in the arena: a failure only skips it. */
			assert_true(status == DCK_E_NOMEM || (status == DCK_OK && !directories[i]));
		}
	}
}

static size_t place_of(const library_places *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->place[i].path, name[0] == 'l' ? name : at(name)) == 0)
			return i;
	fail_msg("'%s' was not found", name);
	return 0;
}

static void packages_come_before_the_loaders_path(void **state)
{
	mem_arena *a = mem_arena_new(0);
	library_places p;
	dck_err err;

	(void)state;
	setenv("VIRTUAL_ENV", at("env"), 1);
	setenv("PATH", at("py/bin"), 1);
	setenv("HOME", at("home"), 1);
	assert_int_equal(library_find(&ort_library, NULL, a, &p, &err), DCK_OK);
	size_t env = place_of(
	    &p, "env/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.1");
	size_t python =
	    place_of(&p, "py/lib/python3/dist-packages/onnxruntime/capi/libonnxruntime.so.1.23.0");
	size_t home = place_of(
	    &p,
	    "home/.local/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.24.0");
	size_t loader = place_of(&p, "libonnxruntime.so.1");
	assert_true(env < python && python < home && home < loader);
	assert_false(p.place[env].asked);
	assert_null(p.old_wheel);
	for (size_t i = 0; i < p.n; i++) /* candidates next to deepclock come before the others */
		if (strcmp(p.place[i].how, "next to deepclock") == 0)
			assert_true(i < env);
	mem_arena_free(a);
}

/* The program of a wheel, the extension, a program in a virtual environment's bin: each searches
 * the packages of its installation, whatever environment is active. */
static void packages_of_its_own(void **state)
{
	static const struct {
		const char *self, *found;
	} cases[] = {
	    {"site/deepclock/bin/deepclock", "site/onnxruntime/capi/libonnxruntime.so.1.25.0"},
	    {"site/deepclock/_deepclock.so", "site/onnxruntime/capi/libonnxruntime.so.1.25.0"},
	    {"env/bin/deepclock",
	     "env/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.1"},
	    {"py/bin/deepclock", NULL}, /* not a virtual environment */
	};
	char real[PATH_MAX], wanted[PATH_MAX];

	(void)state;
	make("site/onnxruntime/capi/libonnxruntime.so.1.25.0");
	make("env/pyvenv.cfg");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mem_arena *a = mem_arena_new(0);
		library_places p = {.kind = &ort_library,
				    .file = "onnxruntime/capi/libonnxruntime.so*"};

		make(cases[i].self);
		library_find_beside(&p, a, at(cases[i].self));
		assert_int_equal(p.n, cases[i].found ? 1 : 0);
		if (cases[i].found) {
			assert_non_null(realpath(p.place[0].path, real));
			assert_non_null(realpath(at(cases[i].found), wanted));
			assert_string_equal(real, wanted);
			assert_false(p.place[0].asked || p.place[0].trusted);
		}
		mem_arena_free(a);
	}
}

/* A provider in a separate library: searched next to the package of ONNX Runtime, next to its
 * library, then in the package directories. */
static void providers_are_packages_of_their_own(void **state)
{
	static const char package[] = "onnxruntime_ep_webgpu", file[] = "libprovider.so";
	static const struct {
		const char *library, *asked, *found;
	} cases[] = {
	    {"ep/onnxruntime/capi/libonnxruntime.so.1.31.1", NULL,
	     "ep/onnxruntime_ep_webgpu/libprovider.so"},
	    {"flat/libonnxruntime.so.1.31.1", NULL, "flat/libprovider.so"},
	    {"one/libonnxruntime.so.1.9.0", NULL,
	     "venv_ep/lib/python3.12/site-packages/onnxruntime_ep_webgpu/libprovider.so"},
	    {"flat/libonnxruntime.so.1.31.1", "ep/onnxruntime_ep_webgpu",
	     "ep/onnxruntime_ep_webgpu/libprovider.so"},
	    {"flat/libonnxruntime.so.1.31.1", "ep/nothing", NULL},
	};
	char library[PATH_MAX * 2], asked[PATH_MAX * 2];
	library_places p;
	dck_err err;

	(void)state;
	make("ep/onnxruntime_ep_webgpu/libprovider.so");
	make("flat/libprovider.so");
	make("venv_ep/lib/python3.12/site-packages/onnxruntime_ep_webgpu/libprovider.so");
	setenv("VIRTUAL_ENV", at("venv_ep"), 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mem_arena *a = mem_arena_new(0);

		snprintf(library, sizeof library, "%s", at(cases[i].library));
		snprintf(asked, sizeof asked, "%s", at(cases[i].asked ? cases[i].asked : "."));
		const dck_status status =
		    library_find_package(&ort_library, package, file, library,
					 cases[i].asked ? asked : NULL, a, &p, &err);
		assert_int_equal(status, cases[i].found ? DCK_OK : DCK_E_ABSENT);
		if (cases[i].found) {
			assert_true(p.n > 0);
			assert_string_equal(p.place[0].path, at(cases[i].found));
		}
		mem_arena_free(a);
	}
}

static void the_python_that_runs_deepclock_comes_first(void **state)
{
	char path[2 * PATH_MAX];
	mem_arena *a = mem_arena_new(0);
	library_places p;

	(void)state;
	setenv("VIRTUAL_ENV", at("env"), 1);
	setenv("DEEPCLOCK_PYTHON_ORT", at("one/libonnxruntime.so.1.20.0"), 1);
	assert_int_equal(library_find(&ort_library, NULL, a, &p, NULL), DCK_OK);
	assert_int_equal(place_of(&p, "one/libonnxruntime.so.1.20.0"), 0);
	assert_false(p.place[0].asked || p.place[0].trusted); /* others may write to it */
	place_of(&p, "env/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.1");
	snprintf(path, sizeof path, "%s", at("nowhere.so"));
	setenv("DEEPCLOCK_PYTHON_ORT", path, 1);
	assert_int_equal(library_find(&ort_library, NULL, a, &p, NULL), DCK_OK);
	assert_string_not_equal(p.place[0].path, path);
	unsetenv("DEEPCLOCK_PYTHON_ORT");
	mem_arena_free(a);
}

static void an_old_package_is_remembered(void **state)
{
	mem_arena *a = mem_arena_new(0);
	library_places p;
	dck_err err;

	(void)state;
	setenv("VIRTUAL_ENV", at("oldenv"), 1);
	assert_int_equal(library_find(&ort_library, NULL, a, &p, &err), DCK_OK);
	assert_non_null(p.old_wheel);
	assert_non_null(strstr(p.old_wheel, "onnxruntime_pybind11_state"));
	mem_arena_free(a);
}

static void open_refused(const char *library, dck_status code, const char *says)
{
	const dck_open_params p = {.struct_size = sizeof p,
				   .library_path = library,
				   .model_bytes = "x",
				   .model_bytes_n = 1,
				   .device = "cpu"};
	dck_engine_model *m = NULL;
	dck_err err = {0};

	assert_int_equal(engine_ort.open(&p, &m, &err), code);
	if (!strstr(err.msg, says))
		print_error("%s\n", err.msg);
	assert_non_null(strstr(err.msg, says));
	assert_null(m);
}

static void libraries_that_will_not_do_are_refused(void **state)
{
	char path[PATH_MAX * 2], says[64];

	(void)state;
	ear e = ear_open();
	open_refused(built_file("abi/abi_ort_1_18.so"), DCK_E_VERSION,
		     "is ONNX Runtime 1.18.1, which is too old: 1.19 or newer is needed");
	open_refused(built_file("abi/abi_ort_2_0.so"), DCK_E_VERSION, "is ONNX Runtime 2.0.0");
	open_refused(built_file("abi/abi_ort_unnamed.so"), DCK_E_FORMAT, "'nightly'");
	snprintf(says, sizeof says, "offers no API of version %u", ORT_MINOR_KNOWN);
	open_refused(built_file("abi/abi_ort_no_table.so"), DCK_E_VERSION, says);
	open_refused(built_file("abi/abi_no_symbol.so"), DCK_E_FORMAT, "is not ONNX Runtime");
	snprintf(path, sizeof path, "%s", at("sdk/lib/libonnxruntime.so"));
	open_refused(path, DCK_E_ABSENT, "cannot load"); /* an empty file */
	ear_close_silent(e);
}

static void libraries_that_others_can_change_are_refused(void **state)
{
	char path[PATH_MAX * 2];

	(void)state;
	snprintf(path, sizeof path, "%s", at("sdk/lib/libonnxruntime.so"));
	assert_int_equal(chmod(path, 0757), 0);
	setenv("DEEPCLOCK_ORT", path, 1);
	open_refused(NULL, DCK_E_UNSUP,
		     "(DEEPCLOCK_ORT) is not loaded: everyone may write to it; fix its owner and "
		     "mode, or name it with --engine-lib");
	open_refused(path, DCK_E_ABSENT, "cannot load"); /* named explicitly, so it was tried */
	assert_int_equal(chmod(path, 0755), 0);
	open_refused(NULL, DCK_E_ABSENT, "cannot load");
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		open_refused(NULL, DCK_E_UNSUP, "it belongs to another user");
		assert_int_equal(chown(path, 0, 0), 0);
	}
}

/* Runs in a child process of this program: a library may be next to the build's tests, so the child
 * starts in a separate directory. */
static int search_in_vain(void)
{
	const dck_open_params p = {
	    .struct_size = sizeof p, .model_bytes = "x", .model_bytes_n = 1, .device = "cpu"};
	dck_engine_model *m = NULL;
	dck_err err = {0};

	if (engine_ort.open(&p, &m, &err) != DCK_E_ABSENT)
		return 77; /* the system has a library */
	return !strstr(err.msg, "no ONNX Runtime was found") ||
	       !strstr(err.msg, "'make demo' fetches it") || !strstr(err.msg, "--engine-lib FILE");
}

static void copy_self(const char *to)
{
	dck_buffer self = {0};
	dck_err err;
	int fd = open(to, O_CREAT | O_WRONLY, 0777);

	assert_int_equal(os_read_file("/proc/self/exe", SIZE_MAX, &self, &err), DCK_OK);
	assert_int_equal(write(fd, self.data, self.n), self.n);
	close(fd);
	dck_buffer_done(&self);
}

static void nothing_found_says_where_and_what_to_do(void **state)
{
	char path[PATH_MAX * 2], word[] = "alone";
	char *argv[] = {path, word, NULL};
	const os_spawn_config c = {
	    .argv = argv, .in_fd = -1, .out_fd = 1, .err_fd = 2, .keep_fd = -1};
	os_child_usage usage;
	dck_err err;
	pid_t pid;

	(void)state;
	snprintf(path, sizeof path, "%s", at("empty/alone"));
	copy_self(path);
	assert_int_equal(os_spawn(&c, &pid, &err), DCK_OK);
	assert_int_equal(os_wait(pid, 0, NULL, NULL, &usage, &err), DCK_OK);
	if (usage.exit_code == 77) {
		print_message("skipped: the system has an ONNX Runtime of its own\n");
		skip();
	}
	assert_int_equal(usage.exit_code, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_path_is_a_file_or_a_directory, environment_empty),
	    cmocka_unit_test_setup(what_the_user_says_comes_first, environment_empty),
	    cmocka_unit_test_setup(each_allocation_may_fail, environment_empty),
	    cmocka_unit_test_setup(packages_come_before_the_loaders_path, environment_empty),
	    cmocka_unit_test_setup(packages_of_its_own, environment_empty),
	    cmocka_unit_test_setup(providers_are_packages_of_their_own, environment_empty),
	    cmocka_unit_test_setup(the_python_that_runs_deepclock_comes_first, environment_empty),
	    cmocka_unit_test_setup(an_old_package_is_remembered, environment_empty),
	    cmocka_unit_test_setup(libraries_that_will_not_do_are_refused, environment_empty),
	    cmocka_unit_test_setup(libraries_that_others_can_change_are_refused, environment_empty),
	    cmocka_unit_test_setup(nothing_found_says_where_and_what_to_do, environment_empty),
	};

	(void)argv;
	if (argc > 1)
		return search_in_vain();
	return cmocka_run_group_tests(tests, tree_make, scratch_end);
}
