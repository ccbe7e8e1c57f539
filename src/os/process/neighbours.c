/* neighbours.c - CPU time of every process, split into our own and other processes.
 *
 * The kernel adds a process's CPU time to its parent's cutime and cstime when the parent waits for
 * it. So processes that ended between two snapshots are counted by their parent, and their CPU time
 * at the first snapshot is subtracted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/mem.h"
#include "os/file/text.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A machine with more processes is not read: it would take too long. */
#define PROCESSES_MAX 8192

typedef struct process {
	int pid, parent, group;
	uint64_t born;	  /* in ticks since the machine started */
	double cpu_ticks; /* its own, and of the children that it waited for */
	char name[16], state;
	bool ours;
	bool orphan; /* started by one of ours that has ended */
} process;

struct os_cpu_users {
	bool whole; /* all of it could be read */
	double busy_ticks, steal_ticks, tick_ns;
	unsigned cpus;
	size_t n;
	process *all; /* in ascending order of pid */
};

/* "17 (a name) S 1 ...": proc(5). */
static bool neighbours_process_read(const char *root, int pid, process *ret)
{
	char path[512], buf[1024];
	uint64_t user, system;
	int64_t child_user, child_system;

	snprintf(path, sizeof path, "%s/proc/%d/stat", root, pid);
	if (!text_read(path, buf, sizeof buf))
		return false;
	const char *name = strchr(buf, '(');
	char *end = strrchr(buf, ')');
	if (!name || !end || end <= name ||
	    sscanf(end + 1,
		   " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNd64
		   " %" SCNd64 " %*d %*d %*d %*d %" SCNu64,
		   &ret->state, &ret->parent, &ret->group, &user, &system, &child_user,
		   &child_system, &ret->born) != 8)
		return false;
	*end = '\0';
	text_copy(ret->name, sizeof ret->name, name + 1);
	ret->pid = pid;
	ret->cpu_ticks = (double)user + (double)system + (double)child_user + (double)child_system;
	ret->ours = ret->orphan = false;
	return true;
}

/* The first line of /proc/stat: user nice system idle iowait irq softirq steal. Guests are in user
 * already. The lines of its processors follow. */
static bool machine_read(const char *root, os_cpu_users *u)
{
	char path[512];
	uint64_t user, nice_, system, irq, soft, steal = 0;
	enum { SIZE = 1 << 20 }; /* a line of 60 to 120 bytes for each of thousands of processors */
	char *buf = mem_alloc(SIZE);

	snprintf(path, sizeof path, "%s/proc/stat", root);
	const bool read = buf && text_read(path, buf, SIZE) &&
			  sscanf(buf,
				 "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %*s %*s %" SCNu64
				 " %" SCNu64 " %" SCNu64,
				 &user, &nice_, &system, &irq, &soft, &steal) >= 5;
	if (read) {
		u->busy_ticks = (double)(user + nice_ + system + irq + soft);
		u->steal_ticks = (double)steal;
		for (const char *s = buf; (s = strstr(s, "\ncpu")); s++)
			u->cpus++;
	}
	mem_free(buf);
	return read && u->cpus > 0;
}

static int by_pid(const void *a, const void *b)
{
	const int x = ((const process *)a)->pid, y = ((const process *)b)->pid;

	return (x > y) - (x < y);
}

static process *neighbours_find(const os_cpu_users *u, int pid)
{
	const process key = {.pid = pid};

	return u->n > 0 ? bsearch(&key, u->all, u->n, sizeof key, by_pid) : NULL;
}

/* Returns whether p was started by a descendant of root that has ended: it began later, and is in
 * the same process group, neither as its leader nor below a process of that group. */
static bool is_orphan_of(const os_cpu_users *u, const process *p, int root)
{
	const process *of = neighbours_find(u, root), *parent = neighbours_find(u, p->parent);

	return of && p->group == of->group && p->pid != p->group && p->born >= of->born &&
	       (!parent || parent->group != p->group);
}

/* Ours are `self`, `pid`, and all that these started. */
static void ours_mark(os_cpu_users *u, int self, int pid)
{
	for (size_t i = 0; i < u->n; i++)
		u->all[i].ours = u->all[i].orphan =
		    is_orphan_of(u, &u->all[i], self) || is_orphan_of(u, &u->all[i], pid);
	for (size_t i = 0; i < u->n; i++) {
		const process *p = &u->all[i];

		for (size_t depth = 0; p && depth < 1000 && !u->all[i].ours; depth++) {
			u->all[i].ours = p->ours || p->pid == self || p->pid == pid;
			p = p->parent > 0 ? neighbours_find(u, p->parent) : NULL;
		}
	}
}

static bool processes_read(const char *root, os_cpu_users *u)
{
	char path[512];
	size_t cap = 0;
	bool whole = true;
	struct dirent *entry;

	snprintf(path, sizeof path, "%s/proc", root);
	DIR *directory = opendir(path);
	if (!directory)
		return false;
	while (whole && (entry = readdir(directory))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		whole =
		    u->n < PROCESSES_MAX && mem_reserve(&u->all, &cap, u->n + 1, sizeof *u->all);
		/* One that just ended cannot be read. */
		if (whole && neighbours_process_read(root, atoi(entry->d_name), &u->all[u->n]))
			u->n++;
	}
	closedir(directory);
	if (u->n > 0)
		qsort(u->all, u->n, sizeof *u->all, by_pid);
	return whole && u->n > 0;
}

os_cpu_users *os_cpu_users_take(const char *root, long self, long pid)
{
	os_cpu_users *u = mem_zalloc(1, sizeof *u);
	const long hz = sysconf(_SC_CLK_TCK);

	if (!u)
		return NULL;
	u->tick_ns = hz > 0 ? 1e9 / (double)hz : 1e7;
	u->whole = machine_read(root, u) && processes_read(root, u);
	ours_mark(u, (int)self, (int)pid);
	return u;
}

void os_cpu_users_free(os_cpu_users *u)
{
	if (u)
		mem_free(u->all);
	mem_free(u);
}

/* Returns the ticks of p, and of the children it waited for, since the first snapshot. */
static double used_since(const os_cpu_users *from, const process *p)
{
	const process *before = neighbours_find(from, p->pid);

	return p->cpu_ticks - (before && before->born == p->born ? before->cpu_ticks : 0);
}

typedef struct user_ticks {
	const char *name;
	double ticks;
} user_ticks;

static void user_add(user_ticks *users, size_t *n, const char *name, double ticks)
{
	size_t i = 0;

	while (i < *n && strcmp(users[i].name, name) != 0)
		i++;
	if (i == *n)
		users[(*n)++] = (user_ticks){name, 0};
	users[i].ticks += ticks;
}

static int by_ticks(const void *a, const void *b)
{
	const double x = ((const user_ticks *)a)->ticks, y = ((const user_ticks *)b)->ticks;

	return (x < y) - (x > y);
}

/* Returns the process of p in another snapshot, or NULL. */
static const process *still_there(const os_cpu_users *to, const process *p)
{
	const process *now = neighbours_find(to, p->pid);

	return now && now->born == p->born ? now : NULL;
}

/* The nearest living ancestor of p: its parent may have ended, and been waited for. */
static const process *heir_of(const os_cpu_users *from, const os_cpu_users *to, const process *p)
{
	const process *now = NULL;

	for (size_t depth = 0; p && !now && depth < 1000; depth++) {
		p = neighbours_find(from, p->parent);
		now = p ? still_there(to, p) : NULL;
	}
	return now;
}

/* Processes of the same name are merged. */
static void neighbours_top_find(const os_cpu_users *from, const os_cpu_users *to, double wall_ticks,
				os_cpu_split *ret)
{
	user_ticks *users = mem_zalloc(to->n + from->n, sizeof *users);
	size_t n = 0;

	for (size_t i = 0; users && i < to->n; i++)
		if (!to->all[i].ours && used_since(from, &to->all[i]) > 0)
			user_add(users, &n, to->all[i].name, used_since(from, &to->all[i]));
	/* Ended processes are in their parents' sums, with their whole CPU time. */
	for (size_t i = 0; users && i < from->n; i++) {
		const process *p = &from->all[i];
		const process *heir = still_there(to, p) ? NULL : heir_of(from, to, p);
		if (!p->ours && heir && !heir->ours)
			user_add(users, &n, heir->name, -p->cpu_ticks);
	}
	if (n > 0)
		qsort(users, n, sizeof *users, by_ticks);
	for (size_t i = 0; i < n && ret->ntop < OS_CPU_TOP; i++)
		if (users[i].ticks / wall_ticks >= 0.01) {
			text_copy(ret->top[ret->ntop].name, sizeof ret->top[0].name, users[i].name);
			ret->top[ret->ntop++].cores = users[i].ticks / wall_ticks;
		}
	mem_free(users);
}

bool os_cpu_split_find(const os_cpu_users *from, const os_cpu_users *to, double wall_ns,
		       os_cpu_split *ret)
{
	os_cpu_split s = {0};
	double own = 0;

	if (!from || !to || !from->whole || !to->whole || !(wall_ns > 0))
		return false;
	const double wall_ticks = wall_ns / to->tick_ns;
	for (size_t i = 0; i < to->n; i++)
		own += to->all[i].ours ? to->all[i].cpu_ticks : 0;
	for (size_t i = 0; i < from->n; i++)
		own -= from->all[i].ours ? from->all[i].cpu_ticks : 0;
	own = own > 0 ? own : 0;
	const double others = to->busy_ticks - from->busy_ticks - own;
	s.cpus = to->cpus;
	s.own = own / wall_ticks;
	s.others = others > 0 ? others / wall_ticks : 0;
	s.steal = (to->steal_ticks - from->steal_ticks) / wall_ticks;
	neighbours_top_find(from, to, wall_ticks, &s);
	for (size_t i = 0; i < to->n; i++)
		if (to->all[i].orphan && to->all[i].state != 'Z' &&
		    !still_there(from, &to->all[i]) && s.left++ == 0)
			text_copy(s.left_name, sizeof s.left_name, to->all[i].name);
	*ret = s;
	return true;
}
