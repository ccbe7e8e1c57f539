/* server.c - a server whose behaviour is known, for the tests of `deepclock load --url`: OpenAI's
 * streams and KServe's v2 REST, with injected delays and faults. A thread for each connection. It
 * prints its port and serves until it is killed.
 *
 *	http_server ttft=20000 gap=5000 role=1 utf8=1 every=4 fail=429 log=requests
 *
 * Times are in microseconds, from the arrival of a request. Each request adds a line to the log:
 * path, hash of the body, value of Authorization.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BODY_MAX = 1 << 24, HEAD_MAX = 1 << 16 };

typedef struct behaviour {
	long ttft, gap;	      /* of the first chunk, and between chunks */
	long stall, stall_at; /* an additional gap, before that chunk */
	long head;	      /* between the status line and the other headers */
	long chunks;	      /* 0: as many as tokens are requested */
	long per;	      /* tokens of a chunk */
	long stop;	      /* tokens after which it stops early; 0: never */
	long cached;	      /* tokens of each prompt that it reports as cached */
	long every;	      /* each such request fails */
	long dies;	      /* after so many requests; 0: never */
	long cache;	      /* > 0: the first chunk of a prompt that came before, in its place */
	long details;	      /* usage has the cached tokens */
	long usage;	      /* factor of its number of tokens; 0: no usage */
	long serial;	      /* one stream after the other */
	long silent;	      /* closes each connection after an answer, unannounced */
	long most; /* bytes of a body; a longer one is refused before it is read; 0: any */
	long role, utf8, slices, close, done, spin;
	const char *fail, *refuse, *model, *log;
	const char *metrics; /* whose counters it has at /metrics */
} behaviour;

static behaviour b = {.per = 1, .every = 1, .usage = 1, .done = 1, .details = 1};
static atomic_long requests, cache_tokens, cache_hits;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t serial_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t serial_next = PTHREAD_COND_INITIALIZER;
static unsigned long serial_came, serial_done;

static const struct option_row {
	const char *name;
	long *number;
	const char **text;
} option_rows[] = {
    {"ttft", &b.ttft, NULL},	     {"gap", &b.gap, NULL},	  {"stall", &b.stall, NULL},
    {"stall_at", &b.stall_at, NULL}, {"head", &b.head, NULL},	  {"chunks", &b.chunks, NULL},
    {"per", &b.per, NULL},	     {"stop", &b.stop, NULL},	  {"cached", &b.cached, NULL},
    {"every", &b.every, NULL},	     {"role", &b.role, NULL},	  {"usage", &b.usage, NULL},
    {"utf8", &b.utf8, NULL},	     {"slices", &b.slices, NULL}, {"close", &b.close, NULL},
    {"done", &b.done, NULL},	     {"spin", &b.spin, NULL},	  {"fail", NULL, &b.fail},
    {"refuse", NULL, &b.refuse},     {"model", NULL, &b.model},	  {"log", NULL, &b.log},
    {"serial", &b.serial, NULL},     {"cache", &b.cache, NULL},	  {"details", &b.details, NULL},
    {"metrics", NULL, &b.metrics},   {"dies", &b.dies, NULL},	  {"silent", &b.silent, NULL},
    {"most", &b.most, NULL},
};

typedef struct stream {
	int fd;
	bool chunked, broken;
} stream;

/* --- time */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sleeps until then; with spin=1 the last 0.2 ms are spun, since a sleeper wakes late. */
static void wait_until(uint64_t until_ns)
{
	const uint64_t early = b.spin ? 200000 : 0;
	const uint64_t to = until_ns > early ? until_ns - early : 0;
	const struct timespec t = {(time_t)(to / 1000000000u), (long)(to % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
	while (now_ns() < until_ns)
		;
}

/* --- output */

static void bytes_send(stream *s, const char *bytes, size_t n)
{
	const size_t most = b.slices > 0 ? (size_t)b.slices : n;

	while (n > 0 && !s->broken) {
		const size_t part = n < most ? n : most;
		const ssize_t sent = send(s->fd, bytes, part, MSG_NOSIGNAL);

		if (sent <= 0) {
			s->broken = true;
			return;
		}
		bytes += sent;
		n -= (size_t)sent;
	}
}

__attribute__((format(printf, 2, 3))) static void text_send(stream *s, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	bytes_send(s, text, strlen(text));
}

/* A piece of the body, as one chunk where the body is chunked. */
static void piece_send(stream *s, const char *bytes, size_t n)
{
	char text[4096];
	int used = 0;

	if (s->chunked)
		used = snprintf(text, sizeof text, "%zx\r\n", n);
	memcpy(text + used, bytes, n);
	if (s->chunked)
		memcpy(text + used + n, "\r\n", 2);
	bytes_send(s, text, (size_t)used + n + (s->chunked ? 2 : 0));
}

/* An event; with utf8=1 its middle is in two chunks, which are sent apart: they cut a character. */
static void event_send(stream *s, const char *data)
{
	char text[2048];
	const int n = snprintf(text, sizeof text, "data: %s\n\n", data);
	const char *cut = b.utf8 ? strpbrk(text, "\xc3") : NULL;

	if (!cut) {
		piece_send(s, text, (size_t)n);
		return;
	}
	piece_send(s, text, (size_t)(cut + 1 - text));
	usleep(2000);
	piece_send(s, cut + 1, (size_t)(text + n - cut - 1));
}

static void head_send(stream *s, const char *status, const char *type, long long length)
{
	text_send(s, "HTTP/1.1 %s\r\n", status);
	if (b.head > 0)
		usleep((useconds_t)b.head);
	text_send(s, "Content-Type: %s\r\n", type);
	if (b.close)
		text_send(s, "Connection: close\r\n");
	if (length >= 0)
		text_send(s, "Content-Length: %lld\r\n", length);
	else if (!b.close)
		text_send(s, "Transfer-Encoding: chunked\r\n");
	s->chunked = length < 0 && !b.close;
	text_send(s, "\r\n");
}

static void whole_send(stream *s, const char *status, const char *type, const char *body)
{
	head_send(s, status, type, (long long)strlen(body));
	bytes_send(s, body, strlen(body));
}

/* --- answers */

static long number_of(const char *body, const char *key, long other)
{
	const char *at = strstr(body, key);

	return at ? strtol(at + strlen(key), NULL, 10) : other;
}

static void content_send(stream *s, bool chat, long tokens, bool last)
{
	const char *end = last ? ",\"finish_reason\":\"length\"" : "";
	char data[1024], text[512];

	text[0] = '\0';
	for (long i = 0; i < tokens && strlen(text) < sizeof text - 8; i++)
		strcat(text, b.utf8 ? "\xc3\xa9" : "a ");
	snprintf(data, sizeof data,
		 chat ? "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}%s}]}"
		      : "{\"choices\":[{\"index\":0,\"text\":\"%s\"%s}]}",
		 text, end);
	event_send(s, data);
}

static long words_count(const char *body)
{
	long words = 1;

	for (const char *c = strstr(body, "prompt"); c && *c; c++)
		words += *c == ' ';
	return words;
}

static void usage_send(stream *s, const char *body, long tokens)
{
	char data[256], details[64] = "";

	if (b.details)
		snprintf(details, sizeof details,
			 ",\"prompt_tokens_details\":{\"cached_tokens\":%ld}", b.cached);
	snprintf(data, sizeof data,
		 "{\"choices\":[],\"usage\":{\"prompt_tokens\":%ld,\"completion_tokens\":%ld%s}}",
		 words_count(body), tokens, details);
	event_send(s, data);
}

/* --- the cache of prompts */

static uint64_t text_hash(const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
	return hash;
}

/* Returns whether this body came before, and counts its tokens. */
static bool cache_take(const char *body)
{
	static uint64_t seen[1 << 14];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const uint64_t hash = text_hash(body);
	uint64_t *at = &seen[hash % (sizeof seen / sizeof *seen)];
	bool hit;

	pthread_mutex_lock(&lock);
	hit = *at == hash;
	*at = hash;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&cache_tokens, words_count(body));
	atomic_fetch_add(&cache_hits, hit && b.cache > 0 ? words_count(body) : b.cached);
	return hit;
}

/* Returns whether it answered a request for the counters, in Prometheus' text format. */
static bool metrics_answer(stream *s, const char *path)
{
	const bool vllm = b.metrics && strcmp(b.metrics, "vllm") == 0;
	const char *hits = vllm ? "vllm:prefix_cache_hits_total" : "sglang:cached_tokens_total";
	const char *tokens =
	    vllm ? "vllm:prefix_cache_queries_total" : "sglang:prompt_tokens_total";
	char text[1024];

	if (strcmp(path, "/metrics") != 0)
		return false;
	snprintf(
	    text, sizeof text,
	    "# HELP %s not a series\n# TYPE %s counter\n%s{engine=\"0\",name=\"a } 7\"} %ld.0\n"
	    "%s{engine=\"1\"} 0\n%s{engine=\"0\"} %ld 1700000000000\n",
	    hits, hits, hits, atomic_load(&cache_hits), hits, tokens, atomic_load(&cache_tokens));
	if (b.metrics)
		whole_send(s, "200 OK", "text/plain; version=0.0.4", text);
	else
		whole_send(s, "404 Not Found", "text/plain", "not found");
	return true;
}

static bool fails_as(const char *how, bool failing)
{
	return failing && b.fail && strcmp(b.fail, how) == 0;
}

static void stream_answer(stream *s, const char *body, bool chat, bool failing, uint64_t begin_ns)
{
	const long asked = number_of(body, "\"max_tokens\":", 16);
	const long wanted = b.stop > 0 && b.stop < asked ? b.stop : asked;
	const long chunks = b.chunks > 0 ? b.chunks : (wanted + b.per - 1) / b.per;
	const bool endless = fails_as("endless", failing);
	const bool hit = cache_take(body);
	uint64_t due = begin_ns + (uint64_t)(hit && b.cache > 0 ? b.cache : b.ttft) * 1000;
	long told = 0;

	head_send(s, "200 OK", "text/event-stream; charset=utf-8", -1);
	if (b.role)
		event_send(s,
			   "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}");
	if (fails_as("hang", failing)) {
		pause();
		return;
	}
	for (long i = 0; (endless || i < chunks) && !s->broken; i++) {
		const long left = wanted - told;

		due += i > 0 ? (uint64_t)b.gap * 1000 : 0;
		due += i > 0 && i == b.stall_at ? (uint64_t)b.stall * 1000 : 0;
		wait_until(due);
		if (i == 2 && fails_as("cut", failing)) {
			s->broken = true;
			return;
		}
		if (i == 1 && fails_as("error", failing)) {
			event_send(s, "{\"error\":{\"message\":\"out of memory\"}}");
			break;
		}
		if (i == 1 && fails_as("notjson", failing)) {
			event_send(s, "{nonsense");
			break;
		}
		if (i == 2 && fails_as("noend", failing)) {
			bytes_send(s, "0\r\n\r\n", 5);
			return;
		}
		if (i == 1 && fails_as("abort", failing)) {
			event_send(s,
				   "{\"choices\":[{\"text\":\"\",\"finish_reason\":\"abort\"}]}");
			break;
		}
		content_send(s, chat, endless || left > b.per ? b.per : left,
			     !endless && b.stop == 0 && i + 1 == chunks);
		told += b.per;
	}
	if (b.stop > 0)
		event_send(s, "{\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}");
	if (b.usage && strstr(body, "include_usage"))
		usage_send(s, body, wanted * b.usage);
	if (b.done)
		event_send(s, "[DONE]");
	if (s->chunked)
		bytes_send(s, "0\r\n\r\n", 5);
}

/* Faults that are whole answers. */
static const struct fault_row {
	const char *name, *status, *type, *body;
} fault_rows[] = {
    {"500", "500 Internal Server Error", "text/plain", "oops"},
    {"json", "200 OK", "application/json", "{\"choices\":[{\"text\":\"all at once\"}]}"},
    {"html", "200 OK", "text/html", "<html>a login page</html>"},
    {"empty", "200 OK", "text/event-stream", "data: [DONE]\n\n"},
};

/* Returns the value of Authorization; "-": none. */
static const char *secret_of(const char *head, char buf[256])
{
	const char *at = strstr(head, "Authorization: ");

	snprintf(buf, 256, "%.*s", at ? (int)strcspn(at + 15, "\r") : 1, at ? at + 15 : "-");
	return buf;
}

static bool fault_answer(stream *s, const char *head, bool failing)
{
	char body[400], secret[256];

	if (!failing || !b.fail)
		return false;
	if (strcmp(b.fail, "429") == 0) {
		snprintf(body, sizeof body, "{\"error\":{\"message\":\"slow down, %s\"}}",
			 secret_of(head, secret));
		whole_send(s, "429 Too Many Requests", "application/json", body);
		return true;
	}
	for (size_t i = 0; i < sizeof fault_rows / sizeof *fault_rows; i++)
		if (strcmp(b.fail, fault_rows[i].name) == 0) {
			whole_send(s, fault_rows[i].status, fault_rows[i].type, fault_rows[i].body);
			return true;
		}
	if (strcmp(b.fail, "redirect") == 0) {
		text_send(s, "HTTP/1.1 307 Temporary Redirect\r\nLocation: "
			     "http://127.0.0.2/v1/other?key=1\r\nContent-Length: 0\r\n\r\n");
		return true;
	}
	if (strcmp(b.fail, "gigabytes") == 0) {
		head_send(s, "200 OK", "text/event-stream", 10000000000);
		return true;
	}
	if (strcmp(b.fail, "garbage") == 0) {
		text_send(s, "SSH-2.0-OpenSSH_9.2\r\n");
		s->broken = true;
		return true;
	}
	if (strcmp(b.fail, "close") == 0) {
		s->broken = true;
		return true;
	}
	return false;
}

static void kserve_answer(stream *s, const char *path, uint64_t begin_ns)
{
	if (!strstr(path, "/infer")) {
		whole_send(s, "200 OK", "application/json",
			   "{\"name\":\"m\",\"platform\":\"x\",\"inputs\":[{\"name\":\"x\","
			   "\"datatype\":\"FP32\",\"shape\":[-1,3]},{\"name\":\"n\",\"datatype\":"
			   "\"INT64\",\"shape\":[2]}],\"outputs\":[]}");
		return;
	}
	wait_until(begin_ns + (uint64_t)b.ttft * 1000);
	whole_send(s, "200 OK", "application/json", "{\"outputs\":[]}");
}

static void request_log(const char *path, const char *head, const char *body)
{
	char secret[256];
	FILE *f;

	if (!b.log)
		return;
	pthread_mutex_lock(&log_lock);
	f = fopen(b.log, "a");
	if (f) {
		fprintf(f, "%s %016llx %s\n", path, (unsigned long long)text_hash(body),
			secret_of(head, secret));
		fclose(f);
	}
	pthread_mutex_unlock(&log_lock);
}

static void request_answer(stream *s, const char *path, const char *head, const char *body,
			   uint64_t begin_ns)
{
	const bool generates = strstr(path, "completions") != NULL;
	const long number = generates ? atomic_fetch_add(&requests, 1) : 0;
	/* The first request is the client's probe. */
	const bool failing = number % b.every == b.every - 1;
	char name[128];

	if (metrics_answer(s, path))
		return;
	request_log(path, head, body);
	snprintf(name, sizeof name, "\"model\":\"%s\"", b.model ? b.model : "");
	if (!generates)
		kserve_answer(s, path, begin_ns);
	else if (b.refuse && strstr(body, b.refuse))
		whole_send(s, "400 Bad Request", "application/json",
			   "{\"error\":{\"message\":\"unknown field\"}}");
	else if (b.model && !strstr(body, name))
		whole_send(s, "404 Not Found", "application/json",
			   "{\"error\":{\"message\":\"no such model\"}}");
	else if (fault_answer(s, head, failing))
		return;
	else if (b.serial) {
		/* In the order of arrival, which a mutex alone does not keep. */
		pthread_mutex_lock(&serial_lock);
		const unsigned long mine = serial_came++;

		while (serial_done < mine)
			pthread_cond_wait(&serial_next, &serial_lock);
		pthread_mutex_unlock(&serial_lock);
		stream_answer(s, body, strstr(path, "chat") != NULL, failing, now_ns());
		pthread_mutex_lock(&serial_lock);
		serial_done++;
		pthread_cond_broadcast(&serial_next);
		pthread_mutex_unlock(&serial_lock);
	} else
		stream_answer(s, body, strstr(path, "chat") != NULL, failing, begin_ns);
	if (number + 1 == b.dies)
		_exit(0);
}

/* --- connections */

/* *ret_at_ns: when the bytes arrived, by the kernel's time stamp where it gives one; else now. */
static ssize_t bytes_receive(int fd, void *to, size_t n, uint64_t *ret_at_ns)
{
	union {
		char space[CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr align;
	} control;
	struct iovec into = {to, n};
	struct msghdr m = {.msg_iov = &into,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof control.space};
	const ssize_t got = recvmsg(fd, &m, 0);
	struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	struct timespec at, now;

	*ret_at_ns = now_ns();
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
		return got;
	memcpy(&at, CMSG_DATA(c), sizeof at);
	clock_gettime(CLOCK_REALTIME, &now);
	*ret_at_ns -=
	    (uint64_t)((now.tv_sec - at.tv_sec) * 1000000000 + (now.tv_nsec - at.tv_nsec));
	return got;
}

/* Reads one request; false: the connection has ended. `have` bytes of the next are at the front.
 * *ret_at_ns: when its last bytes arrived. */
static bool request_read(int fd, char *head, char *body, size_t *have, uint64_t *ret_at_ns)
{
	size_t n = *have, length;
	char *end;

	head[n] = '\0';
	while (!(end = strstr(head, "\r\n\r\n"))) {
		const ssize_t got =
		    n < HEAD_MAX ? bytes_receive(fd, head + n, HEAD_MAX - n, ret_at_ns) : 0;

		if (got <= 0)
			return false;
		n += (size_t)got;
		head[n] = '\0';
	}
	*end = '\0';
	end += 4;
	length = (size_t)number_of(head, "Content-Length: ", 0);
	n -= (size_t)(end - head);
	if (length > BODY_MAX)
		return false;
	if (b.most > 0 && length > (size_t)b.most) {
		stream s = {.fd = fd};

		whole_send(&s, "413 Content Too Large", "text/plain", "too large");
		return false;
	}
	*have = n > length ? n - length : 0;
	memcpy(body, end, n < length ? n : length);
	if (*have > 0)
		memmove(end, end + length, *have); /* not used: clients wait for an answer */
	while (n < length) {
		const ssize_t got = bytes_receive(fd, body + n, length - n, ret_at_ns);

		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	body[length] = '\0';
	return true;
}

static void *connection_main(void *arg)
{
	stream s = {.fd = (int)(intptr_t)arg};
	char *head = malloc(HEAD_MAX + 1), *body = malloc(BODY_MAX + 1);
	size_t have = 0;
	uint64_t begin_ns = 0;

	while (head && body && !s.broken && request_read(s.fd, head, body, &have, &begin_ns)) {
		char path[512];

		if (sscanf(head, "%*s %511s", path) != 1)
			break;
		request_answer(&s, path, head, body, begin_ns);
		if (b.close || b.silent)
			break;
	}
	close(s.fd);
	free(head);
	free(body);
	return NULL;
}

static bool option_set(char *arg)
{
	char *value = strchr(arg, '=');

	if (!value)
		return false;
	*value++ = '\0';
	for (size_t i = 0; i < sizeof option_rows / sizeof *option_rows; i++)
		if (strcmp(arg, option_rows[i].name) == 0) {
			if (option_rows[i].number)
				*option_rows[i].number = strtol(value, NULL, 10);
			else
				*option_rows[i].text = value;
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof a;
	pthread_attr_t small;

	for (int i = 1; i < argc; i++)
		if (!option_set(argv[i])) {
			fprintf(stderr, "http_server: unknown option '%s'\n", argv[i]);
			return 2;
		}
	signal(SIGPIPE, SIG_IGN);
	if (bind(listener, (struct sockaddr *)&a, n) || listen(listener, 1024) ||
	    getsockname(listener, (struct sockaddr *)&a, &n)) {
		perror("http_server");
		return 1;
	}
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 * 1024);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	for (;;) {
		pthread_t thread;
		const int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
		if (pthread_create(&thread, &small, connection_main, (void *)(intptr_t)fd))
			close(fd);
	}
}
