/* Tests of os/file.c: reads with a limit, atomic replacement of a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "deepclock/report.h"
#include "deepclock/unstable.h"

#include "fault_alloc.h"
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void holds(const char *path, const char *want)
{
	dck_buffer b = {0};
	assert_int_equal(os_read_file(path, 1000, &b, NULL), DCK_OK);
	assert_string_equal(b.data, want);
	assert_int_equal(b.n, strlen(want));
	dck_buffer_done(&b);
}

/* Counts the directory entries except "." and "..". */
static int entries(void)
{
	int n = -2;
	DIR *d = opendir(".");
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void reads_whole_files(void **state)
{
	(void)state;
	put("a", "hello");
	holds("a", "hello");
	put("empty", "");
	holds("empty", "");
	dck_buffer b = {0};
	assert_int_equal(os_read_file("/proc/self/status", 1 << 20, &b, NULL), DCK_OK);
	assert_true(b.n > 100); /* although its size is reported as 0 */
	assert_int_equal(b.data[b.n], '\0');
	dck_buffer_done(&b);
	remove("a");
	remove("empty");
}

static void text_is_in_utf8_without_its_mark(void **state)
{
	dck_buffer b = {0};
	dck_err e;

	(void)state;
	put("text", "\xef\xbb\xbfgrün");
	assert_int_equal(os_read_text("text", 100, &b, &e), DCK_OK);
	assert_string_equal(b.data, "grün");
	assert_int_equal(b.n, 5);
	dck_buffer_done(&b);
	put("text", "\xef\xbb\xbf");
	assert_int_equal(os_read_text("text", 100, &b, &e), DCK_OK);
	assert_int_equal(b.n, 0);
	dck_buffer_done(&b);
	FILE *f = fopen("text", "w");
	assert_int_equal(fwrite("\xff\xfe"
				"a\0b\0",
				1, 6, f),
			 6);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(os_read_text("text", 100, &b, &e), DCK_E_FORMAT);
	assert_string_equal(e.msg,
			    "'text' is not text in UTF-8: byte 3 is zero, since it is in UTF-16");
	f = fopen("text", "w");
	assert_int_equal(fwrite("a\0", 1, 2, f), 2);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(os_read_text("text", 100, &b, &e), DCK_E_FORMAT);
	assert_string_equal(e.msg, "'text' is not text in UTF-8: byte 1 is zero");
	remove("text");
}

static void refuses_what_it_cannot_read(void **state)
{
	(void)state;
	put("five", "12345");
	put("six", "123456");
	dck_buffer b = {.n = 77};
	dck_err e;
	assert_int_equal(os_read_file("missing", 5, &b, &e), DCK_E_ABSENT);
	assert_string_equal(e.msg, "cannot open 'missing': No such file or directory");
	assert_int_equal(e.native_code, ENOENT);
	assert_int_equal(os_read_file("five/x", 5, &b, &e), DCK_E_ABSENT);
	assert_int_equal(os_read_file("", 5, &b, &e), DCK_E_ABSENT);
	assert_int_equal(os_read_file(".", 5, &b, &e), DCK_E_IO);
	assert_string_equal(e.msg, "'.' is a directory, not a file");
	assert_int_equal(os_read_file("six", 5, &b, &e), DCK_E_LIMIT);
	assert_string_equal(e.msg, "'six' is larger than 5 B, the most that is read here");
	assert_int_equal(os_read_file("/dev/zero", 100000, &b, &e), DCK_E_IO); /* no size */
	assert_string_equal(e.msg, "'/dev/zero' is a device without an end, not a file");
	assert_int_equal(b.n, 77);
	b = (dck_buffer){0};
	assert_int_equal(os_read_file("five", 5, &b, &e), DCK_OK);
	dck_buffer_done(&b);
	/* A sparse file of 4 GB is refused by its size, without reading it. */
	assert_int_equal(truncate("five", (off_t)4 << 30), 0);
	assert_int_equal(os_read_file("five", 1 << 30, &b, &e), DCK_E_LIMIT);
	remove("five");
	remove("six");
}

static void reads_pipes(void **state)
{
	(void)state;
	dck_buffer b = {0};
	assert_int_equal(mkfifo("pipe", 0600), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open("pipe", O_WRONLY);
		_exit(write(fd, "through", 7) == 7 ? 0 : 1);
	}
	assert_int_equal(os_read_file("pipe", 100, &b, NULL), DCK_OK);
	assert_string_equal(b.data, "through");
	dck_buffer_done(&b);
	waitpid(pid, NULL, 0);
	remove("pipe");
}

static dck_status replace(const char *path, const char *text, dck_err *err)
{
	dck_replace *r;
	int fd;
	dck_status st = dck_replace_open(path, &r, &fd, err);
	if (st != DCK_OK)
		return st;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return dck_replace_commit(r, err);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void new_files_follow_the_umask(void **state)
{
	(void)state;
	mode_t old = umask(027);
	assert_int_equal(replace("new", "one", NULL), DCK_OK);
	umask(old);
	holds("new", "one");
	assert_int_equal(mode_of("new"), 0640);
	assert_int_equal(entries(), 1);
	remove("new");
}

static void existing_files_keep_their_mode(void **state)
{
	(void)state;
	put("f", "old");
	chmod("f", 0604);
	assert_int_equal(replace("./f", "new", NULL), DCK_OK);
	holds("f", "new");
	assert_int_equal(mode_of("f"), 0604);
	assert_int_equal(entries(), 1);
	remove("f");
}

static void append(const char *path, dck_status expected)
{
	dck_err err;
	int fd = -1;

	assert_int_equal(os_open_append(path, &fd, &err), expected);
	if (fd >= 0)
		close(fd);
}

/* In a directory like /tmp another user could create a link under the name about to be written. */
static void own_links_and_files_in_a_directory_for_all_are_written(void **state)
{
	(void)state;
	assert_int_equal(mkdir("all", 0700), 0);
	assert_int_equal(chmod("all", 01777), 0);
	put("all/mine", "kept");
	assert_int_equal(symlink("mine", "all/link"), 0);
	assert_int_equal(replace("all/link", "by link", NULL), DCK_OK);
	holds("all/mine", "by link");
	assert_int_equal(replace("all/mine", "by name", NULL), DCK_OK);
	holds("all/mine", "by name");
	append("all/link", DCK_OK);
	append("all/mine", DCK_OK);
	remove("all/link");
	remove("all/mine");
	remove("all");
}

static void links_of_others_in_a_directory_for_all_are_refused(void **state)
{
	dck_err err;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can create a link of another user */
	assert_int_equal(mkdir("all", 0700), 0);
	assert_int_equal(chmod("all", 01777), 0);
	put("all/mine", "kept");
	assert_int_equal(symlink("mine", "all/theirs"), 0);
	assert_int_equal(lchown("all/theirs", 65534, 65534), 0);
	assert_int_equal(replace("all/theirs", "bad", &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "is a link of another user"));
	assert_int_equal(symlink("all/theirs", "way"), 0); /* and a link to that link */
	assert_int_equal(replace("way", "bad", &err), DCK_E_IO);
	holds("all/mine", "kept");
	assert_int_equal(chmod("all", 0755), 0);
	assert_int_equal(replace("all/theirs", "last", NULL), DCK_OK);
	holds("all/mine", "last");
	remove("way");
	remove("all/theirs");
	remove("all/mine");
	remove("all");
}

/* The same for files and pipes of other users, which their owner could read and change, and for our
 * file with a second hard link by another user. None of them hangs. */
static void files_of_others_in_a_directory_for_all_are_refused(void **state)
{
	dck_err err;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can create a file of another user */
	assert_int_equal(mkdir("all", 0700), 0);
	assert_int_equal(chmod("all", 01777), 0);
	put("all/file", "theirs");
	assert_int_equal(lchown("all/file", 65534, 65534), 0);
	assert_int_equal(mkfifo("all/pipe", 0666), 0);
	assert_int_equal(lchown("all/pipe", 65534, 65534), 0);
	assert_int_equal(symlink("/etc/deepclock-nothing", "all/link"), 0);
	assert_int_equal(lchown("all/link", 65534, 65534), 0);
	put("ours", "ours");
	assert_int_equal(link("ours", "all/ours"), 0);
	assert_int_equal(replace("all/file", "bad", &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "is a file of another user"));
	assert_int_equal(replace("all/pipe", "bad", &err), DCK_E_IO);
	append("all/file", DCK_E_IO);
	append("all/pipe", DCK_E_IO);
	append("all/link", DCK_E_IO);
	append("all/ours", DCK_E_IO);
	holds("ours", "ours");
	assert_int_equal(replace("all/ours", "new", NULL), DCK_OK); /* a new file replaces it */
	holds("ours", "ours");
	append("all/ours", DCK_OK);
	append("all/new", DCK_OK);
	remove("all/new");
	remove("all/ours");
	remove("ours");
	remove("all/link");
	remove("all/pipe");
	remove("all/file");
	remove("all");
}

/* While it is written only we can access the file; the mode is copied, and if the owner cannot be,
 * the owner's permissions are dropped. */
static void a_new_file_inherits(void **state)
{
	struct stat st;
	int fd = open("new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	(void)state;
	put("f", "old");
	assert_int_equal(chmod("f", 0640), 0);
	if (geteuid() == 0)
		assert_int_equal(chown("f", 65534, 65533), 0);
	os_file_inherit(fd, "f");
	assert_int_equal(mode_of("new"), 0640);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_uid, geteuid() == 0 ? 65534 : geteuid());
	const mode_t before = umask(027);
	os_file_inherit(fd, "nothing");
	umask(before);
	assert_int_equal(mode_of("new"), 0640);
	close(fd);
	remove("new");
	remove("f");
}

static void links_stay_links(void **state)
{
	(void)state;
	struct stat st;
	assert_int_equal(mkdir("sub", 0700), 0);
	put("sub/target", "old");
	assert_int_equal(symlink("target", "sub/second"), 0);
	assert_int_equal(symlink("sub/second", "first"), 0);
	assert_int_equal(replace("first", "new", NULL), DCK_OK);
	holds("sub/target", "new");
	assert_int_equal(lstat("first", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("sub/second", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	/* A dangling link: its target is created. */
	remove("sub/target");
	assert_int_equal(replace("first", "again", NULL), DCK_OK);
	holds("sub/target", "again");
	/* A cycle of links. */
	remove("sub/second");
	assert_int_equal(symlink("../first", "sub/second"), 0);
	assert_int_equal(replace("first", "x", NULL), DCK_E_IO);
	remove("first");
	remove("sub/second");
	remove("sub/target");
	remove("sub");
}

static void abort_leaves_the_old_file(void **state)
{
	(void)state;
	dck_replace *r;
	int fd;
	put("f", "old");
	assert_int_equal(dck_replace_open("f", &r, &fd, NULL), DCK_OK);
	assert_int_equal(write(fd, "half", 4), 4);
	assert_int_equal(entries(), 2);
	holds("f", "old");
	dck_replace_abort(r);
	dck_replace_abort(NULL);
	holds("f", "old");
	assert_int_equal(entries(), 1);
	remove("f");
}

/* As docker run -v "$PWD/f:/f" makes it: rename() onto it fails. */
static void a_file_that_is_a_mount_is_written_over(void **state)
{
	int status = 0;

	(void)state;
	put("f", "older and longer");
	put("g", "");
	const pid_t child = fork();
	if (child == 0) {
		if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount("f", "g", NULL, MS_BIND, NULL) != 0)
			_exit(77);
		_exit(replace("g", "new", NULL) == DCK_OK && entries() == 2 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) {
		assert_int_equal(WEXITSTATUS(status), 0);
		holds("f", "new");
	}
	remove("f");
	remove("g");
}

/* The older content is gone then, so that the new one must be somewhere. */
static void a_mount_without_room_loses_nothing(void **state)
{
	static char large[1 << 16];
	int status = 0;
	dck_err e;

	(void)state;
	memset(large, 'n', sizeof large - 1);
	put("g", "");
	assert_int_equal(mkdir("small", 0700), 0);
	const pid_t child = fork();
	if (child == 0) {
		if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount("none", "small", "tmpfs", 0, "size=8k") != 0)
			_exit(77);
		put("small/f", "older");
		if (mount("small/f", "g", NULL, MS_BIND, NULL) != 0)
			_exit(77);
		_exit(replace("g", large, &e) == DCK_E_IO && e.native_code == ENOSPC &&
			      strstr(e.msg, "'; it is in '") && entries() == 3
			  ? 0
			  : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77)
		assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(system("rm -rf g small .dck-*"), 0);
}

static void what_cannot_be_written(void **state)
{
	(void)state;
	dck_err e;
	char longer[300];
	memset(longer, 'n', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(replace("no/such/folder", "x", &e), DCK_E_IO);
	assert_string_equal(e.msg,
			    "cannot write 'no/such/folder': there is no directory 'no/such'");
	assert_int_equal(e.native_code, ENOENT);
	assert_int_equal(replace(".", "x", &e), DCK_E_IO);
	assert_string_equal(e.msg, "cannot write '.': it is a directory");
	assert_int_equal(replace("", "x", &e), DCK_E_ARG);
	assert_int_equal(replace(longer, "x", &e), DCK_E_IO);
	assert_int_equal(e.native_code, ENAMETOOLONG);
	if (geteuid() != 0) {
		put("f", "old");
		chmod("f", 0400);
		assert_int_equal(replace("f", "x", &e), DCK_E_IO);
		assert_int_equal(e.native_code, EACCES);
		holds("f", "old");
		remove("f");
	}
	assert_int_equal(entries(), 0);
}

/* The target becomes a directory between open and commit: rename fails, and no file remains. */
static void a_failing_rename_cleans_up(void **state)
{
	(void)state;
	dck_replace *r;
	int fd;
	dck_err e;
	assert_int_equal(dck_replace_open("f", &r, &fd, NULL), DCK_OK);
	assert_int_equal(mkdir("f", 0700), 0);
	assert_int_equal(dck_replace_commit(r, &e), DCK_E_IO);
	assert_string_equal(e.msg, "cannot replace 'f': Is a directory");
	assert_int_equal(entries(), 1);
	rmdir("f");
}

static void devices_and_pipes_are_written_directly(void **state)
{
	(void)state;
	struct stat st;
	assert_int_equal(replace("/dev/null", "x", NULL), DCK_OK);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(entries(), 0);
}

/* Writes through the open descriptor: a second open would start at offset 0. */
static void own_descriptors_keep_their_place(void **state)
{
	(void)state;
	char name[64];
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(fd, "before ", 7), 7);
	snprintf(name, sizeof name, "/dev/fd/%d", fd);
	assert_int_equal(replace(name, "after", NULL), DCK_OK);
	holds("f", "before after");
	assert_int_equal(symlink(name, "link"), 0);
	assert_int_equal(replace("link", " all", NULL), DCK_OK);
	holds("f", "before after all");
	close(fd);
	dck_err e;
	assert_int_equal(replace(name, "x", &e), DCK_E_IO);
	assert_int_equal(e.native_code, EBADF);
	remove("link");
	remove("f");
}

static void random_bytes_differ(void **state)
{
	(void)state;
	unsigned char a[32] = {0}, b[32] = {0};
	os_random_bytes(a, sizeof a);
	os_random_bytes(b, sizeof b);
	assert_memory_not_equal(a, b, sizeof a);
	os_random_bytes(a, 0);
}

static dck_status read_it(dck_err *err)
{
	dck_buffer b = {0};
	dck_status st = os_read_file("/proc/self/maps", 1 << 20, &b, err);
	dck_buffer_done(&b);
	return st;
}

static dck_status write_it(dck_err *err)
{
	return replace("f", "text", err);
}

static dck_status load_it(dck_err *err)
{
	os_library *l = NULL;
	dck_status st = os_library_open("libm.so.6", &l, err);
	os_library_close(l);
	return st;
}

static void every_allocation_fails_once(void **state)
{
	(void)state;
	dck_status (*const paths[])(dck_err * err) = {read_it, write_it, load_it};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		dck_status st = DCK_E_NOMEM;
		for (size_t n = 1; st != DCK_OK; n++) {
			fault_alloc f;
			dck_err e;
			fault_alloc_begin(&f, n);
			st = paths[i](&e);
			dck_set_allocator(NULL);
			assert_int_equal(st, f.calls < n ? DCK_OK : DCK_E_NOMEM);
			assert_int_equal(f.out, 0);
			if (st != DCK_OK)
				assert_int_equal(entries(), 0);
			remove("f");
		}
	}
}

static void names_say_what_they_stand_for(void **state)
{
	static const char *const names[] = {"lib.so.9", "lib.so.10", "lib.so.2"};
	mem_arena *a = mem_arena_new(0);
	uint64_t bytes = 0;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		FILE *f = fopen(names[i], "w");
		assert_non_null(f);
		fputs(names[i], f);
		fclose(f);
	}
	assert_string_equal(os_path_newest(a, "", "lib.so.*"), "lib.so.10");
	assert_string_equal(os_path_first(a, "", "lib.so.*"), "lib.so.10");
	assert_string_equal(os_path_first(a, "", "lib.so.[29]"), "lib.so.2");
	assert_string_equal(os_path_newest(a, "", "lib.so.[29]"), "lib.so.9");
	assert_null(os_path_newest(a, "", "nothing*"));
	assert_int_equal(os_path_kind("lib.so.10", &bytes), OS_FILE);
	assert_int_equal(bytes, 9);
	assert_int_equal(os_path_kind(".", NULL), OS_DIRECTORY);
	assert_int_equal(os_path_kind("/dev/null", NULL), OS_OTHER);
	assert_int_equal(os_path_kind("nothing", NULL), OS_NOTHING);
	assert_int_equal(errno, ENOENT);
	assert_true(os_file_hash("lib.so.9") != os_file_hash("lib.so.2"));
	assert_int_equal(os_file_hash("nothing"), 0);
	assert_true(os_file_swallow("swallow"));
	assert_true(os_file_swallow("swallow"));
	assert_int_equal(os_path_kind("swallow", NULL), OS_OTHER);
	remove("swallow");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		remove(names[i]);
	mem_arena_free(a);
}

static void empty_file(const char *path, mode_t mode)
{
	const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void a_directories_name_is_no_pattern(void **state)
{
	mem_arena *a = mem_arena_new(0);

	(void)state;
	assert_int_equal(mkdir("a", 0777), 0);
	assert_int_equal(mkdir("b", 0777), 0);
	assert_int_equal(mkdir("[ab]", 0777), 0);
	empty_file("a/lib.so.3", 0644);
	empty_file("b/.lib.so.4", 0644);
	assert_null(os_path_first(a, "[ab]", "lib.so*"));
	assert_null(os_path_first(a, "?", "lib.so*"));
	assert_null(os_path_first(a, "b", "*"));
	empty_file("[ab]/lib.so.1", 0644);
	assert_string_equal(os_path_newest(a, "[ab]", "lib.so*"), "[ab]/lib.so.1");
	assert_string_equal(os_path_newest(a, "", "[a-b]/lib.so*"), "a/lib.so.3");
	assert_string_equal(os_path_first(a, "[ab]/", "lib.so.1"), "[ab]/lib.so.1");
	const char *quoted = os_glob_escape(a, "[ab]");
	assert_string_equal(os_path_first(a, "", quoted), "[ab]");
	assert_null(os_path_first(a, NULL, "*"));
	assert_null(os_path_first(a, "", NULL));
	remove("[ab]/lib.so.1");
	remove("[ab]");
	remove("a/lib.so.3");
	remove("a");
	remove("b/.lib.so.4");
	remove("b");
	mem_arena_free(a);
}

static void a_file_that_others_can_change_is_known(void **state)
{
	(void)state;
	empty_file("mine", 0755);
	empty_file("groups", 0775);
	empty_file("everyones", 0757);
	assert_null(os_file_open_to_others("mine"));
	assert_null(os_file_open_to_others("nothing"));
	assert_null(os_file_open_to_others("/proc/self/status"));
	assert_string_equal(os_file_open_to_others("everyones"), "everyone may write to it");
	if (geteuid() == 0) { /* only root can change a file's owner */
		assert_int_equal(chown("groups", 0, 65534), 0);
		assert_int_equal(chmod("groups", 0775), 0);
		assert_string_equal(os_file_open_to_others("groups"), "its group may write to it");
		assert_int_equal(chown("mine", 65534, 65534), 0);
		assert_string_equal(os_file_open_to_others("mine"), "it belongs to another user");
	}
	remove("mine");
	remove("groups");
	remove("everyones");
}

/* Removes nested directories; the target of a link remains. */
static void a_temporary_directory_goes_whole(void **state)
{
	char folder[OS_TEMP_SIZE], command[2 * OS_TEMP_SIZE];

	(void)state;
	assert_int_equal(os_temp_dir(folder, NULL), DCK_OK);
	snprintf(command, sizeof command,
		 "cd '%s' && mkdir -p a/b/c && echo x > a/b/c/x && ln -s / a/root", folder);
	assert_int_equal(system(command), 0);
	os_temp_dir_remove(folder);
	assert_int_not_equal(access(folder, F_OK), 0);
	assert_int_equal(access("/usr", F_OK), 0);
}

int test_os_file(void);
int test_os_file(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_whole_files),
	    cmocka_unit_test(text_is_in_utf8_without_its_mark),
	    cmocka_unit_test(refuses_what_it_cannot_read),
	    cmocka_unit_test(reads_pipes),
	    cmocka_unit_test(new_files_follow_the_umask),
	    cmocka_unit_test(existing_files_keep_their_mode),
	    cmocka_unit_test(links_stay_links),
	    cmocka_unit_test(own_links_and_files_in_a_directory_for_all_are_written),
	    cmocka_unit_test(links_of_others_in_a_directory_for_all_are_refused),
	    cmocka_unit_test(files_of_others_in_a_directory_for_all_are_refused),
	    cmocka_unit_test(a_new_file_inherits),
	    cmocka_unit_test(abort_leaves_the_old_file),
	    cmocka_unit_test(a_file_that_is_a_mount_is_written_over),
	    cmocka_unit_test(a_mount_without_room_loses_nothing),
	    cmocka_unit_test(what_cannot_be_written),
	    cmocka_unit_test(a_failing_rename_cleans_up),
	    cmocka_unit_test(devices_and_pipes_are_written_directly),
	    cmocka_unit_test(own_descriptors_keep_their_place),
	    cmocka_unit_test(random_bytes_differ),
	    cmocka_unit_test(every_allocation_fails_once),
	    cmocka_unit_test(names_say_what_they_stand_for),
	    cmocka_unit_test(a_directories_name_is_no_pattern),
	    cmocka_unit_test(a_file_that_others_can_change_is_known),
	    cmocka_unit_test(a_temporary_directory_goes_whole),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
