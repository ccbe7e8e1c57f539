/* file.c - whole files: bounded reading, atomic replacement, appending, locks, random bytes.
 *
 * Replacement (dck_replace): a temporary file of a random name in the target's directory (O_EXCL),
 * the old file's owner and mode, the contents, fsync(), rename(2), fsync() of the directory. So
 * after a crash the name has the old or the new contents, never a part. A temporary file is
 * registered in cleanup.c until it is renamed. Devices, pipes and /dev/stdout are written
 * directly. A file that is a mount, as in a container, is written over when all is ready.
 *
 * Directories that all users may write to (/tmp): os_file_target() follows links itself, up to 40,
 * and refuses a link or file of another user, as the kernel's fs.protected_* do. Check and open are
 * two steps, so os_open_append() opens without following links and checks the open file again.
 *
 * Reading trusts no stated size: it ends at the end of the file or at the limit (E_LIMIT). Locks:
 * os_file_lock_process() belongs to the process (F_SETLK, lost when any descriptor of the file is
 * closed), os_file_lock() to the open file description (F_OFD_SETLK).
 *
 * Sources: open(2), rename(2), fcntl_locking(2), Documentation/admin-guide/sysctl/fs.rst of Linux
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sink.h"
#include "deepclock/report.h"
#include "deepclock/unstable.h"
#include "os/process/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- reading */

static dck_status too_large(int fd, const char *path, size_t limit, dck_err *err)
{
	struct stat st;
	const bool endless = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode);
	char most[32];

	if (endless)
		DCK_FAIL(err, E_IO, "'%s' is a device without an end, not a file", path);
	DCK_FAIL(err, E_LIMIT, "'%s' is larger than %s, the most that is read here", path,
		 dck_text_bytes((double)limit, most, sizeof most));
}

/* Grows the buffer. Callers request one byte more than the known size, so that the end is found
 * without growing again. */
static bool file_grow(dck_buffer *b, size_t cap)
{
	char *data = mem_resize(b->data, cap);
	if (!data)
		return false;
	b->data = data;
	b->cap = cap;
	return true;
}

static dck_status file_read_all(int fd, const char *path, size_t limit, size_t expected,
				dck_buffer *b, dck_err *err)
{
	/* Files of /proc state a size of 0, and others grow while they are read: only their end
	 * counts. */
	DCK_NEED(file_grow(b, expected + 2), err, "for '%s'", path);
	for (;;) {
		if (b->n > limit)
			return too_large(fd, path, limit, err);
		if (b->cap - b->n < 2 && !file_grow(b, b->cap < 2048 ? 4096 : b->cap * 2))
			return ERR_NO_MEMORY(err, "for '%s'", path);
		ssize_t got = read(fd, b->data + b->n, b->cap - b->n - 1);
		if (got == 0)
			break;
		if (got > 0)
			b->n += (size_t)got;
		else if (errno != EINTR)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot read '%s'", path);
	}
	b->data[b->n] = '\0';
	return DCK_OK;
}

dck_status os_read_file(const char *path, size_t limit, dck_buffer *ret, dck_err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	dck_status status;

	if (fd < 0) {
		int e = errno;
		dck_status code = e == ENOENT || e == ENOTDIR ? DCK_E_ABSENT : DCK_E_IO;
		return err_set_errno(err, code, __FILE__, __LINE__, e, "cannot open '%s'", path);
	}
	dck_buffer b = {0};
	if (fstat(fd, &st))
		status = err_set_errno(err, DCK_E_IO, __FILE__, __LINE__, errno, "cannot read '%s'",
				       path);
	else if (S_ISDIR(st.st_mode))
		status = ERR_SET(err, E_IO, "'%s' is a directory, not a file", path);
	else if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > limit)
		status = too_large(fd, path, limit, err);
	else
		status = file_read_all(fd, path, limit,
				       S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, &b, err);
	close(fd);
	if (status != DCK_OK)
		dck_buffer_done(&b);
	else
		*ret = b;
	return status;
}

dck_status os_read_text(const char *path, size_t limit, dck_buffer *ret, dck_err *err)
{
	static const unsigned char mark[] = {0xef, 0xbb, 0xbf}; /* of the byte order, in UTF-8 */
	dck_buffer b = {0};
	const unsigned char *zero;

	DCK_TRY(os_read_file(path, limit, &b, err));
	if (b.n >= sizeof mark && memcmp(b.data, mark, sizeof mark) == 0) {
		b.n -= sizeof mark;
		memmove(b.data, b.data + sizeof mark, b.n + 1);
	}
	zero = memchr(b.data, 0, b.n);
	if (zero) {
		const bool wide =
		    memcmp(b.data, "\xff\xfe", 2) == 0 || memcmp(b.data, "\xfe\xff", 2) == 0;
		const size_t at = (size_t)(zero - (const unsigned char *)b.data);

		dck_buffer_done(&b);
		DCK_FAIL(err, E_FORMAT, "'%s' is not text in UTF-8: byte %zu is zero%s", path, at,
			 wide ? ", since it is in UTF-16" : "");
	}
	*ret = b;
	return DCK_OK;
}

dck_status os_memfd(int *ret_fd, dck_err *err)
{
	*ret_fd = memfd_create("deepclock", MFD_CLOEXEC);
	if (*ret_fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot make a file in memory");
	return DCK_OK;
}

dck_status os_file_read_all(int fd, size_t limit, dck_buffer *ret, dck_err *err)
{
	static const char name[] = "a file in memory";
	dck_buffer b = {0};

	if (lseek(fd, 0, SEEK_SET) < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot read %s", name);
	const dck_status status = file_read_all(fd, name, limit, 0, &b, err);
	if (status == DCK_OK)
		*ret = b;
	else
		dck_buffer_done(&b);
	return status;
}

/* --- replacing */

struct dck_replace {
	int fd;
	bool direct;
	char target[PATH_MAX], temp[PATH_MAX];
};

/* Copies the directory of a path: "." for a bare name, "/" for a name in the root. */
static void directory_of(const char *path, char *ret, size_t size)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		snprintf(ret, size, ".");
	else
		snprintf(ret, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* Returns the open descriptor for /dev/stdout and similar names, or -1. Opening the name again
 * would start at offset 0 and overwrite the content. */
static int own_descriptor(const char *path)
{
	int fd = -1, end = 0;
	if (!strcmp(path, "/dev/stdout"))
		return 1;
	if (!strcmp(path, "/dev/stderr"))
		return 2;
	if ((sscanf(path, "/dev/fd/%d%n", &fd, &end) == 1 ||
	     sscanf(path, "/proc/self/fd/%d%n", &fd, &end) == 1) &&
	    !path[end])
		return fd;
	return -1;
}

/* Returns whether it is a world-writable directory with the sticky bit: every user may make a file,
 * but not remove another user's. */
static bool is_for_all(const struct stat *directory)
{
	return directory->st_mode & S_ISVTX && directory->st_mode & S_IWOTH;
}

/* Applies the rules of fs.protected_symlinks, protected_regular and protected_fifos, which the
 * kernel applies only to its own opens: in a directory where every user may create files, a link,
 * a file or a pipe is used if we or the directory's owner created it. */
static bool is_trusted(const struct stat *st, const char *directory)
{
	struct stat in;

	return stat(directory, &in) == 0 &&
	       (!is_for_all(&in) || st->st_uid == geteuid() || st->st_uid == in.st_uid);
}

dck_status os_file_target(const char *path, char *target, dck_err *err)
{
	char link[PATH_MAX], directory[PATH_MAX], next[2 * PATH_MAX];
	struct stat st;

	if (strlen(path) >= PATH_MAX)
		DCK_FAIL_ERRNO(err, E_IO, ENAMETOOLONG, "cannot write '%.80s...'", path);
	strcpy(target, path);
	for (int hops = 0; hops < 40 && own_descriptor(target) < 0; hops++) {
		directory_of(target, directory, sizeof(directory));
		if (lstat(target, &st) != 0 || S_ISDIR(st.st_mode))
			return DCK_OK;
		if (!is_trusted(&st, directory))
			DCK_FAIL(
			    err, E_IO,
			    "cannot write '%s': '%s' is a %s of another user in a directory where all users may create files; name %s",
			    path, target, S_ISLNK(st.st_mode) ? "link" : "file",
			    S_ISLNK(st.st_mode) ? "the file that is meant" : "another file");
		ssize_t n = readlink(target, link, sizeof link - 1);
		if (n < 0)
			return DCK_OK;
		link[n] = '\0';
		int len = snprintf(next, sizeof next, "%s%s%s", link[0] == '/' ? "" : directory,
				   link[0] == '/' ? "" : "/", link);
		if (len < 0 || len >= PATH_MAX)
			DCK_FAIL_ERRNO(err, E_IO, ENAMETOOLONG, "cannot write '%s'", path);
		strcpy(target, next);
	}
	return DCK_OK;
}

/* Returns the umask. umask() sets it temporarily, for all threads, so it is called only if /proc
 * does not report it. */
static mode_t umask_now(void)
{
	unsigned mask = 0;
	char line[128];
	bool known = false;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && !known && fgets(line, sizeof line, f))
		known = sscanf(line, "Umask: %o", &mask) == 1;
	if (f)
		fclose(f);
	if (!known) {
		mask = umask(077);
		umask((mode_t)mask);
	}
	return (mode_t)mask;
}

void os_file_inherit(int fd, const char *target)
{
	char directory[PATH_MAX];
	struct stat old;
	mode_t mode = 0666 & ~umask_now();

	/* Another user may have created one since os_file_target(). */
	directory_of(target, directory, sizeof directory);
	if (lstat(target, &old) == 0 && S_ISREG(old.st_mode) && is_trusted(&old, directory)) {
		mode = old.st_mode & 07777;
		/* Only root can give a file to another owner; rights of the old owner or group must
		 * not become ours. */
		if (fchown(fd, old.st_uid, old.st_gid) != 0) {
			mode &= 0777;
			if (fchown(fd, (uid_t)-1, old.st_gid) != 0)
				mode = (mode & 0707) | (mode & 07) << 3;
		}
	}
	if (fchmod(fd, mode) != 0)
		errno = 0;
}

static dck_status open_direct(dck_replace *r, const char *path, dck_err *err)
{
	int own = own_descriptor(r->target);
	r->direct = true;
	r->fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 3)
			 : open(r->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (r->fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write '%s'", path);
	return DCK_OK;
}

/* Creates a file with a short random name; a name made from the target's could exceed the limit of
 * names. */
static dck_status open_temp(dck_replace *r, const char *path, dck_err *err)
{
	char directory[PATH_MAX];
	directory_of(r->target, directory, sizeof(directory));
	r->fd = -1;
	for (int tries = 0; tries < 100 && r->fd < 0; tries++) {
		uint64_t id;
		os_random_bytes(&id, sizeof id);
		int len = snprintf(r->temp, sizeof r->temp, "%s/.dck-%012llx", directory,
				   (unsigned long long)(id >> 16));
		if (len < 0 || (size_t)len >= sizeof r->temp)
			DCK_FAIL_ERRNO(err, E_IO, ENAMETOOLONG, "cannot write '%s'", path);
		/* Before it exists: a signal may come right after. */
		cleanup_add_path(CLEANUP_FILE, r->temp);
		r->fd = open(r->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (r->fd >= 0)
			break;
		cleanup_remove_path(CLEANUP_FILE, r->temp);
		if (errno != EEXIST)
			break;
	}
	if (r->fd < 0 && errno == ENOENT && os_path_kind(directory, NULL) == OS_DIRECTORY) {
		ERR_SET(err, E_IO, "cannot write '%s': the directory '%s' takes no new files", path,
			directory);
		return err_native(DCK_E_IO, ENOENT, err);
	}
	if (r->fd < 0 && errno == ENOENT) {
		ERR_SET(err, E_IO, "cannot write '%s': there is no directory '%s'", path,
			directory);
		return err_native(DCK_E_IO, ENOENT, err);
	}
	if (r->fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write '%s'", path);
	os_file_inherit(r->fd, r->target);
	return DCK_OK;
}

static dck_status replace_open(dck_replace *r, const char *path, dck_err *err)
{
	struct stat st;
	DCK_TRY(os_file_target(path, r->target, err));
	if (!*path)
		DCK_FAIL(err, E_ARG, "the name of the file to write is empty");
	if (own_descriptor(r->target) >= 0)
		return open_direct(r, path, err);
	if (stat(r->target, &st)) {
		if (errno != ENOENT)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write '%s'", path);
		return open_temp(r, path, err);
	}
	if (S_ISDIR(st.st_mode))
		DCK_FAIL(err, E_IO, "cannot write '%s': it is a directory", path);
	if (!S_ISREG(st.st_mode))
		return open_direct(r, path, err);
	/* Renaming over it would bypass its write protection. */
	if (access(r->target, W_OK))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write '%s'", path);
	return open_temp(r, path, err);
}

dck_status dck_replace_open(const char *path, dck_replace **ret, int *ret_fd, dck_err *err)
{
	dck_replace *r = mem_zalloc(1, sizeof *r);
	DCK_NEED(r, err, "to write '%s'", path);
	dck_status st = replace_open(r, path, err);
	if (st != DCK_OK) {
		mem_free(r);
		return st;
	}
	*ret = r;
	*ret_fd = r->fd;
	return DCK_OK;
}

/* Makes the new name survive a loss of power; a file system that cannot is not an error. */
static void sync_directory(const char *path)
{
	char directory[PATH_MAX];
	directory_of(path, directory, sizeof(directory));
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

/* Copies all that can be read; returns errno, 0: all is written. */
static int file_copy_rest(int from, int to)
{
	char part[65536];
	dck_sink out;
	ssize_t got;
	int reason;
	dck_err err;

	dck_sink_fd(&out, to);
	do {
		got = read(from, part, sizeof part);
		if (got > 0)
			sink_put(&out, part, (size_t)got);
	} while (got > 0 || (got < 0 && errno == EINTR));
	reason = got < 0 ? errno : 0;
	if (dck_sink_finish(&out, &err) == DCK_OK)
		return reason;
	return err.native_code > 0 ? (int)err.native_code : EIO;
}

/* Writes the temporary file's contents into the target. A container's file may be a mount, which
 * cannot be replaced. If that fails, the temporary file stays, because the older content is gone.
 */
static dck_status write_over(dck_replace *r, bool lasting, dck_err *err)
{
	const int from = open(r->temp, O_RDONLY | O_CLOEXEC);
	const int to = from < 0 ? -1 : open(r->target, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
	int reason = to < 0 ? errno : file_copy_rest(from, to);
	dck_status status = DCK_OK;

	if (reason == 0 && lasting && fsync(to) && errno != EINVAL && errno != ENOTSUP)
		reason = errno;
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) && errno != EINTR && reason == 0)
		reason = errno;
	if (to < 0)
		DCK_FAIL_ERRNO(err, E_IO, reason, "cannot replace '%s'", r->target);
	if (reason != 0) {
		status =
		    err_set_errno(err, DCK_E_IO, __FILE__, __LINE__, reason,
				  "cannot write all of '%s'; it is in '%s'", r->target, r->temp);
		r->temp[0] = '\0';
	}
	return status;
}

static dck_status commit(dck_replace *r, bool lasting, dck_err *err)
{
	/* Pipes and terminals cannot be synced, and some file systems do not offer it. */
	if (lasting && fsync(r->fd) && !r->direct && errno != EINVAL && errno != ENOTSUP)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write '%s'", r->target);
	int fd = r->fd;
	r->fd = -1;
	/* A network file system may report it only now; EINTR leaves the descriptor closed on
	 * Linux. */
	if (close(fd) && errno != EINTR)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write '%s'", r->target);
	if (r->direct)
		return DCK_OK;
	if (rename(r->temp, r->target)) {
		if (errno != EBUSY)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot replace '%s'", r->target);
		return write_over(r, lasting, err);
	}
	r->temp[0] = '\0';
	if (lasting)
		sync_directory(r->target);
	return DCK_OK;
}

dck_status dck_replace_commit(dck_replace *r, dck_err *err)
{
	dck_status st = commit(r, true, err);
	dck_replace_abort(r);
	return st;
}

dck_status os_replace_commit_unsynced(dck_replace *r, dck_err *err)
{
	dck_status st = commit(r, false, err);
	dck_replace_abort(r);
	return st;
}

void dck_replace_abort(dck_replace *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	if (r->temp[0])
		unlink(r->temp);
	cleanup_remove_path(CLEANUP_FILE, r->temp);
	mem_free(r);
}

/* --- randomness */

void os_random_bytes(void *p, size_t n)
{
	unsigned char *to = p;
	size_t done = 0;
	while (done < n) {
		ssize_t got = getrandom(to + done, n - done, 0);
		if (got > 0)
			done += (size_t)got;
		else if (got < 0 && errno != EINTR)
			break;
	}
	/* A sandbox may forbid the call. Names and identifiers must differ all the same: they come
	 * from the time and the process then. */
	uint64_t x = (uint64_t)os_unix_ns() ^ ((uint64_t)getpid() << 48) ^ os_now_ns();
	for (; done < n; done++)
		to[done] = (unsigned char)rng_next(&x);
}

/* Returns whether this is the file that was checked: another user may have created one since, also
 * as a hard link to one of this user's files. */
static bool file_is_meant(int fd, const char *target)
{
	char directory[PATH_MAX];
	struct stat st, in;

	directory_of(target, directory, sizeof directory);
	return fstat(fd, &st) == 0 && stat(directory, &in) == 0 && is_trusted(&st, directory) &&
	       (!is_for_all(&in) || !S_ISREG(st.st_mode) || st.st_nlink < 2);
}

int os_fd_above_standard(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	const int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	const int error = errno;

	close(fd);
	errno = error;
	return high;
}

dck_status os_open_append(const char *path, int *ret_fd, dck_err *err)
{
	char target[PATH_MAX];
	struct stat st;
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;

	DCK_TRY(os_file_target(path, target, err));
	const bool own = own_descriptor(target) >= 0;
	if (!own)
		flags |= O_NOFOLLOW;
	/* Opening a pipe that exists waits for its reader; a pipe created since is another
	 * user's. */
	if (!own && (lstat(target, &st) != 0 || S_ISREG(st.st_mode)))
		flags |= O_NONBLOCK;
	const int fd = os_fd_above_standard(open(target, flags, 0666));

	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write to '%s'", path);
	if (!own && !file_is_meant(fd, target)) {
		close(fd);
		DCK_FAIL(
		    err, E_IO,
		    "cannot write to '%s': another user may have created it, in a directory where all users may; name another file",
		    path);
	}
	*ret_fd = fd;
	return DCK_OK;
}

bool os_file_create_exclusive(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void os_file_remove(const char *path)
{
	unlink(path);
}

/* Returns a write lock on the whole file. */
static struct flock whole_lock(void)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

void os_file_lock_process(int fd)
{
	struct flock lock = whole_lock();

	(void)fcntl(fd, F_SETLK, &lock);
}

bool os_file_lock(int fd)
{
	struct flock lock = whole_lock();

	/* A file that cannot be locked, such as a pipe or a file of some networks, counts as
	 * unlocked. */
	return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool os_file_is_locked(const char *path)
{
	struct flock lock = whole_lock();
	const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return false;
	const bool known = fcntl(fd, F_GETLK, &lock) == 0;
	close(fd);
	return known && lock.l_type != F_UNLCK;
}

dck_status os_append(int fd, const char *path, const void *bytes, size_t n, dck_err *err)
{
	for (size_t at = 0; at < n;) {
		const ssize_t done = write(fd, (const char *)bytes + at, n - at);

		if (done < 0 && errno != EINTR)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write to '%s'", path);
		at += done > 0 ? (size_t)done : 0;
	}
	/* A pipe or a device cannot be synced. */
	if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write to '%s'", path);
	return DCK_OK;
}

dck_status os_truncate(int fd, const char *path, uint64_t n, dck_err *err)
{
	if (ftruncate(fd, (off_t)n) != 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot cut the broken last line off '%s'", path);
	return DCK_OK;
}

int os_open_read(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int os_stderr_drop(void)
{
	const int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (saved >= 0 && nothing >= 0)
		(void)dup2(nothing, STDERR_FILENO);
	os_close(nothing);
	return saved;
}

void os_stderr_restore(int saved)
{
	if (saved < 0)
		return;
	(void)dup2(saved, STDERR_FILENO);
	os_close(saved);
}

ptrdiff_t os_read_at(int fd, void *to, size_t n, uint64_t at)
{
	for (size_t done = 0;;) {
		ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		done += (size_t)got;
		if (got == 0 || done == n)
			return (ptrdiff_t)done;
	}
}

void os_close(int fd)
{
	close(fd);
}

uint64_t os_file_hash(const char *path)
{
	unsigned char part[65536];
	uint64_t h = HASH_START;
	FILE *f = fopen(path, "rbe");

	if (!f)
		return 0;
	for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
		h = hash_bytes(h, part, n);
	fclose(f);
	return h;
}

bool os_is_terminal(int fd)
{
	return isatty(fd) == 1;
}
