/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/tls_link.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/net/network.h"
#include "os/process/lazy_library.h"
#include <stdio.h>

/* What is used of libcurl's interface (libcurl.so.4, unchanged since 7.16). */
typedef struct curl_handle curl_handle;
int curl_global_init(long flags);
curl_handle *curl_easy_init(void);
int curl_easy_setopt(curl_handle *h, int option, ...);
int curl_easy_perform(curl_handle *h);
int curl_easy_getinfo(curl_handle *h, int info, ...);
int curl_easy_send(curl_handle *h, const void *from, size_t n, size_t *ret_n);
int curl_easy_recv(curl_handle *h, void *to, size_t n, size_t *ret_n);
void curl_easy_cleanup(curl_handle *h);
const char *curl_easy_strerror(int code);
char *curl_version(void);

#define CURL_FUNCTIONS(X)       \
	X(curl_, global_init)   \
	X(curl_, easy_init)     \
	X(curl_, easy_setopt)   \
	X(curl_, easy_perform)  \
	X(curl_, easy_getinfo)  \
	X(curl_, easy_send)     \
	X(curl_, easy_recv)     \
	X(curl_, easy_cleanup)  \
	X(curl_, easy_strerror) \
	X(curl_, version)

static struct curl_functions {
	CURL_FUNCTIONS(OS_LAZY_MEMBER)
} curl;

enum {
	CURL_GLOBAL_ALL = 3,
	OPT_NOSIGNAL = 99,
	OPT_SSL_VERIFYPEER = 64,
	OPT_SSL_VERIFYHOST = 81,
	OPT_CONNECT_ONLY = 141,
	OPT_CONNECTTIMEOUT_MS = 156,
	OPT_ALPN = 226,
	OPT_PROXY = 10004,
	OPT_URL = 10002,
	OPT_ERRORBUFFER = 10010,
	OPT_CAINFO = 10065,
	INFO_ACTIVESOCKET = 0x500000 + 44,
	INFO_OS_ERRNO = 0x200000 + 25,
	CODE_OK = 0,
	CODE_NOT_VERIFIED = 60,
	CODE_CACERT_BADFILE = 77,
	CODE_AGAIN = 81,
	ERROR_SIZE = 256,
	DESCRIPTORS = 4 /* of a connection while it is made */
};

static void curl_ready(void)
{
	curl.global_init(CURL_GLOBAL_ALL);
}

static const char *const names[] = {CURL_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library library = OS_LAZY_THEN("libcurl.so.4", "https", names, curl, curl_ready);

struct tls_link {
	curl_handle *handle;
	int fd;
	char error[ERROR_SIZE];
};

dck_status tls_load(dck_err *err)
{
	return os_lazy_load(&library, err);
}

const char *tls_version(void)
{
	return curl.version();
}

static dck_status handshake_fail(const tls_link *k, int code, const tls_address *to, dck_err *err)
{
	const char *why = k->error[0] ? k->error : curl.easy_strerror(code);
	/* Without a descriptor libcurl finds, among others, no certificates. */
	const int lack = code == CODE_NOT_VERIFIED ? 0 : os_net_lack(DESCRIPTORS);
	long errnum = 0; /* that of the call that failed */

	if (lack)
		DCK_FAIL_ERRNO(err, E_IO, lack, "cannot connect to '%s' by TLS", to->authority);
	(void)curl.easy_getinfo(k->handle, INFO_OS_ERRNO, &errnum);
	switch (code) {
	case CODE_NOT_VERIFIED:
		DCK_FAIL(err, E_IO,
			 "the certificate of '%s' does not verify: %s; give the certificate of its "
			 "authority by --cacert FILE",
			 to->authority, why);
	case CODE_CACERT_BADFILE:
		if (!to->cacert)
			DCK_FAIL(
			    err, E_ABSENT,
			    "the certificates of this system cannot be read: %s; give those of the "
			    "server's authority by --cacert FILE",
			    why);
		DCK_FAIL(err, E_ABSENT, "--cacert '%.200s' has no certificates that can be read",
			 to->cacert);
	default:
		ERR_SET(err, E_IO, "cannot connect to '%s' by TLS: %s", to->authority, why);
		return err_native(DCK_E_IO, errnum, err);
	}
}

static dck_status handshake(tls_link *k, const tls_address *to, long timeout_ms, dck_err *err)
{
	char url[320];
	int code;
	int fd = -1;

	snprintf(url, sizeof url, "https://%s/", to->authority);
	curl.easy_setopt(k->handle, OPT_URL, url);
	curl.easy_setopt(k->handle, OPT_ERRORBUFFER, k->error);
	curl.easy_setopt(k->handle, OPT_NOSIGNAL, 1L);
	curl.easy_setopt(k->handle, OPT_PROXY, "");
	curl.easy_setopt(k->handle, OPT_ALPN, 0L); /* HTTP/1.1 */
	curl.easy_setopt(k->handle, OPT_SSL_VERIFYPEER, 1L);
	curl.easy_setopt(k->handle, OPT_SSL_VERIFYHOST, 2L);
	curl.easy_setopt(k->handle, OPT_CONNECT_ONLY, 1L);
	curl.easy_setopt(k->handle, OPT_CONNECTTIMEOUT_MS, timeout_ms);
	if (to->cacert)
		curl.easy_setopt(k->handle, OPT_CAINFO, to->cacert);
	code = curl.easy_perform(k->handle);
	if (code != CODE_OK)
		return handshake_fail(k, code, to, err);
	if (curl.easy_getinfo(k->handle, INFO_ACTIVESOCKET, &fd) != CODE_OK || fd < 0)
		DCK_FAIL(err, E_IO, "libcurl has no socket of '%s'", to->authority);
	k->fd = fd;
	return DCK_OK;
}

dck_status tls_link_open(const tls_address *to, long timeout_ms, tls_link **ret, dck_err *err)
{
	tls_link *k;
	dck_status status = tls_load(err);

	DCK_TRY(status);
	k = mem_zalloc(1, sizeof *k);
	DCK_NEED(k, err, "for a connection");
	k->fd = -1;
	k->handle = curl.easy_init();
	status =
	    k->handle ? handshake(k, to, timeout_ms, err) : ERR_NO_MEMORY(err, "for a connection");
	if (status == DCK_OK)
		*ret = k;
	else
		tls_link_close(k);
	return status;
}

void tls_link_close(tls_link *k)
{
	if (!k)
		return;
	if (k->handle)
		curl.easy_cleanup(k->handle);
	mem_free(k);
}

int tls_link_fd(const tls_link *k)
{
	return k->fd;
}

static ptrdiff_t transferred(int code, size_t n)
{
	return code == CODE_OK ? (ptrdiff_t)n : code == CODE_AGAIN ? OS_NET_AGAIN : OS_NET_FAILED;
}

ptrdiff_t tls_link_receive(tls_link *k, void *to, size_t n)
{
	size_t got = 0;
	const int code = curl.easy_recv(k->handle, to, n, &got);

	return transferred(code, got);
}

ptrdiff_t tls_link_send(tls_link *k, const void *from, size_t n)
{
	size_t sent = 0;
	const int code = curl.easy_send(k->handle, from, n, &sent);

	return transferred(code, sent);
}
