/* test_record_file.c - records in files: the old file or the complete new one, never a partial one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "record/build.h"
#include "scratch.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char directory[] = "folder";

static int directory_make(void **state)
{
	return scratch_begin(state) || mkdir(directory, 0700);
}

/* Returns the number of files; optionally removes them. */
static unsigned directory_files(bool remove_them)
{
	unsigned n = 0;
	char path[512];
	DIR *d = opendir(directory);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		n++;
		snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
		if (remove_them)
			unlink(path);
	}
	closedir(d);
	return n;
}

static const char *path_of(const char *name)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static void file_write(const char *name, const char *bytes, size_t n)
{
	FILE *f = fopen(path_of(name), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static dck_buffer file_read(const char *path)
{
	dck_buffer b = {.cap = 1 << 20};
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	b.data = mem_alloc(b.cap);
	b.n = fread(b.data, 1, b.cap - 1, f);
	b.data[b.n] = '\0';
	fclose(f);
	return b;
}

static void saved_and_loaded_and_saved_again(void **state)
{
	(void)state;
	dck_record *r = golden_record("record_typical.json"), *again = NULL;
	dck_buffer want = golden_read("record_typical.json");
	for (int i = 0; i < 3; i++) { /* from the second time on it replaces a file */
		assert_int_equal(dck_record_save(r, path_of("a.json"), NULL), DCK_OK);
		assert_int_equal(directory_files(false), 1);
		dck_buffer got = file_read(path_of("a.json"));
		assert_string_equal(got.data, want.data);
		dck_buffer_done(&got);
		assert_int_equal(dck_record_load(path_of("a.json"), &again, NULL), DCK_OK);
		dck_record_free(r);
		r = again;
	}
	dck_buffer_done(&want);
	dck_record_free(r);
	directory_files(true);
}

static void a_pipe_gets_the_record_directly(void **state)
{
	(void)state;
	int ends[2];
	char name[64], text[4096];
	dck_record *r = golden_record("record_empty.json");
	dck_buffer want = golden_read("record_empty.json");
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
	assert_int_equal(dck_record_save(r, name, NULL), DCK_OK);
	close(ends[1]);
	ssize_t n = read(ends[0], text, sizeof text - 1);
	assert_int_equal(n, want.n);
	assert_memory_equal(text, want.data, want.n);
	close(ends[0]);
	dck_buffer_done(&want);
	dck_record_free(r);
}

static void assert_load_fails(const char *path, dck_status code, const char *says)
{
	dck_err err = {0};
	dck_record *r = NULL;
	dck_status st = dck_record_load(path, &r, &err);
	if (st != code || !strstr(err.msg, says) || !strstr(err.msg, path))
		fail_msg("%s: %s: %s", path, dck_status_name(st), err.msg);
	assert_null(r);
}

static void what_cannot_be_loaded_is_said(void **state)
{
	(void)state;
	static const char half[] = "{\"schema\": 1, \"deepclock\": \"0.1";
	assert_load_fails("no/such/record.json", DCK_E_ABSENT, "No such file");
	assert_load_fails(directory, DCK_E_IO, "directory");
	file_write("empty.json", "", 0);
	assert_load_fails(path_of("empty.json"), DCK_E_FORMAT, "empty");
	file_write("half.json", half, sizeof half - 1);
	assert_load_fails(path_of("half.json"), DCK_E_FORMAT, "line 1");
	file_write("other.json", "{\"results\": []}", 15);
	assert_load_fails(path_of("other.json"), DCK_E_FORMAT, "no member \"schema\"");
	file_write("newer.json", "{\"schema\": 99}", 14);
	assert_load_fails(path_of("newer.json"), DCK_E_VERSION, "newer deepclock is needed");
	directory_files(true);
}

/* A sparse file: large to read, small on the disk. */
static void large_files_are_refused_in_time(void **state)
{
	(void)state;
	int fd = open(path_of("zeros"), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 100 << 20), 0);
	assert_load_fails(path_of("zeros"), DCK_E_FORMAT, "not JSON");
	assert_int_equal(ftruncate(fd, (off_t)4 << 30), 0);
	assert_load_fails(path_of("zeros"), DCK_E_LIMIT, "larger than");
	close(fd);
	directory_files(true);
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	dck_err err = {0};
	dck_record *r = golden_record("record_typical.json");
	if (access("/dev/full", W_OK) != 0) {
		print_message("skipped: there is no /dev/full here\n");
	} else {
		assert_int_equal(dck_record_save(r, "/dev/full", &err), DCK_E_IO);
		assert_non_null(strstr(err.msg, "No space left"));
		assert_non_null(strstr(err.msg, "/dev/full"));
	}
	dck_record_free(r);
}

/* The file size limit simulates a disk that fills up during the write. */
static void a_failed_save_keeps_the_old_file_and_leaves_nothing(void **state)
{
	(void)state;
	dck_err err = {0};
	struct rlimit old, small;
	dck_record *empty = golden_record("record_empty.json");
	dck_record *large = golden_record("record_typical.json");
	assert_int_equal(dck_record_save(empty, path_of("a.json"), NULL), DCK_OK);

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	dck_status st = dck_record_save(large, path_of("a.json"), &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, before);

	assert_int_equal(st, DCK_E_IO);
	assert_int_equal(directory_files(false), 1);
	dck_buffer want = golden_read("record_empty.json"), got = file_read(path_of("a.json"));
	assert_string_equal(got.data, want.data);
	dck_buffer_done(&got);
	dck_buffer_done(&want);
	assert_int_equal(dck_record_save(large, "no/such/folder/a.json", &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "no/such/folder"));
	dck_record_free(empty);
	dck_record_free(large);
	directory_files(true);
}

int test_record_file(void);
int test_record_file(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(saved_and_loaded_and_saved_again),
	    cmocka_unit_test(a_pipe_gets_the_record_directly),
	    cmocka_unit_test(what_cannot_be_loaded_is_said),
	    cmocka_unit_test(large_files_are_refused_in_time),
	    cmocka_unit_test(a_full_disk_is_an_error),
	    cmocka_unit_test(a_failed_save_keeps_the_old_file_and_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, directory_make, scratch_end);
}
