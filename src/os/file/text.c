/* text.c - small files of /proc and /sys.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/file/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool text_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size_t n = 0;
	while (n < size - 1) {
		ssize_t got = read(fd, buf + n, size - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	if (n && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return true;
}

static bool leading_uint(const char *text, uint64_t *ret)
{
	char *end;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno)
		return false;
	*ret = v;
	return true;
}

bool text_read_uint(const char *path, uint64_t *ret)
{
	char buf[64];
	return text_read(path, buf, sizeof buf) && leading_uint(buf, ret);
}

bool text_find_uint(const char *text, const char *key, uint64_t *ret)
{
	size_t n = strlen(key);
	for (;;) {
		if (!strncmp(text, key, n) && (text[n] == ' ' || text[n] == '\t'))
			return leading_uint(text + n + strspn(text + n, " \t"), ret);
		text = strchr(text, '\n');
		if (!text)
			return false;
		text++;
	}
}

char *text_line(char **at)
{
	char *line = *at;
	if (!*line)
		return NULL;
	char *end = strchr(line, '\n');
	*at = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

void text_copy(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size - 1);
	memcpy(to, from, n);
	to[n] = '\0';
}
