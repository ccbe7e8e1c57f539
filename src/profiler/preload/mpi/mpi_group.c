/* mpi_group.c - names the calls of collective functions by the ranks that take part, because the
 * k-th call of a name is compared with the k-th of that name in the other ranks.
 *
 * Most calls are of all ranks of the job: the size of the communicator shows it. Then the name is
 * the function's. The group of the first such communicator is the reference: the ranks of a smaller
 * one are translated into its ranks, of which a name is made and interned in a table that only
 * grows. So members of a group find the same name without a message. Before the first collective of
 * all ranks, and where the table is full, the name of a call does not begin with that of
 * collectives.
 *
 * Only functions of MPI that need no other rank are called (MPI 4.0, 7.3.1 and 7.4.1), by their
 * PMPI_ names, which other tools do not interpose.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mpi_group.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 512, LISTED_MAX = 4, CHUNK = 64 };

typedef int size_function(mpi_word communicator, int *ret);
typedef int group_function(mpi_word communicator, mpi_word *ret);
typedef int translate_function(mpi_word from, int n, const int *ranks, mpi_word to, int *ret);
typedef int free_function(mpi_word *group);

typedef struct group_name {
	uint64_t key; /* hash of the function and the ranks; 0: a free row */
	dck_zone_site site;
	char text[120];
} group_name;

/* The ranks of a group, in the reference's numbers. */
typedef struct group_ranks {
	uint64_t hash;
	int n, least, most, first[LISTED_MAX];
} group_ranks;

static struct {
	long ranks; /* of the job; 0: not known */
	mpi_function *size, *group, *translate, *free;
	pthread_mutex_t lock; /* for the rest */
	bool known;	      /* there is a reference */
	mpi_word reference;   /* a group; 0 before */
	group_name name[GROUPS_MAX];
} groups = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void groups_begin(void)
{
	const char *text = secure_getenv("DEEPCLOCK_RANKS_MPI");

	groups.ranks = text ? strtol(text, NULL, 10) : 0;
}

mpi_function *mpi_find(mpi_function **at, const char *name, const void *caller)
{
	mpi_function *ret = __atomic_load_n(at, __ATOMIC_RELAXED);
	void *found, *library;
	Dl_info of;

	if (ret)
		return ret;
	found = dlsym(RTLD_NEXT, name);
	/* The reference to the library stays: one for each function. */
	if (!found && dladdr(caller, &of) &&
	    (library = dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
		found = dlsym(library, name);
	if (found) /* memcpy: ISO C has no conversion from object to function pointers */
		memcpy(&ret, &found, sizeof ret);
	__atomic_store_n(at, ret, __ATOMIC_RELAXED);
	return ret;
}

static bool group_functions_find(const void *caller)
{
	return mpi_find(&groups.group, "PMPI_Comm_group", caller) &&
	       mpi_find(&groups.translate, "PMPI_Group_translate_ranks", caller) &&
	       mpi_find(&groups.free, "PMPI_Group_free", caller);
}

/* Reads the ranks of a group. false: one of them is not in the reference. */
static bool group_ranks_read(mpi_word group, int size, group_ranks *ret)
{
	translate_function *translate = (translate_function *)groups.translate;
	int from[CHUNK], to[CHUNK];

	*ret = (group_ranks){.hash = UINT64_C(0xcbf29ce484222325), .n = size};
	for (int i = 0; i < size; i++) {
		if (i % CHUNK == 0) {
			const int n = size - i < CHUNK ? size - i : CHUNK;

			for (int k = 0; k < n; k++)
				from[k] = i + k;
			if (translate(group, n, from, groups.reference, to) != 0)
				return false;
		}
		const int rank = to[i % CHUNK];
		if (rank < 0)
			return false;
		ret->hash = (ret->hash ^ (uint64_t)rank) * UINT64_C(0x100000001b3); /* FNV-1a */
		ret->least = i == 0 || rank < ret->least ? rank : ret->least;
		ret->most = rank > ret->most ? rank : ret->most;
		if (i < LISTED_MAX)
			ret->first[i] = rank;
	}
	return true;
}

static void group_text(const char *function, const group_ranks *r, char *to, size_t size)
{
	int used = snprintf(to, size, "collective:%s of ", function);

	if (r->n > LISTED_MAX) {
		snprintf(to + used, size - (size_t)used, "%d ranks, %d to %d, %08x", r->n, r->least,
			 r->most, (unsigned)(r->hash >> 32 ^ r->hash));
		return;
	}
	for (int i = 0; i < r->n; i++)
		used += snprintf(to + used, size - (size_t)used, "%s%d",
				 i > 0	    ? ","
				 : r->n > 1 ? "ranks "
					    : "rank ",
				 r->first[i]);
}

/* groups.lock is held. NULL: the table is full. */
static dck_zone_site *group_name_find(const char *function, const group_ranks *r)
{
	uint64_t key = r->hash;

	for (const char *c = function; *c; c++)
		key = (key ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	key |= 1;
	for (size_t i = 0; i < GROUPS_MAX; i++) {
		group_name *name = &groups.name[(key + i) % GROUPS_MAX];

		if (name->key == key)
			return &name->site;
		if (name->key)
			continue;
		group_text(function, r, name->text, sizeof name->text);
		name->site = (dck_zone_site){name->text, "", 0, 0};
		name->key = key;
		return &name->site;
	}
	return NULL;
}

/* groups.lock is held. NULL: the group has no name. */
static dck_zone_site *group_site(const char *function, mpi_word communicator, int size)
{
	mpi_word group = 0;
	group_ranks ranks;

	if (!groups.known || ((group_function *)groups.group)(communicator, &group) != 0)
		return NULL;
	const bool read = group_ranks_read(group, size, &ranks);
	(void)((free_function *)groups.free)(&group);
	return read ? group_name_find(function, &ranks) : NULL;
}

dck_zone_site *mpi_group_site(mpi_names *names, mpi_word communicator, const void *caller)
{
	mpi_function *find;
	dck_zone_site *site = NULL;
	int size = 0;

	if (groups.ranks == 0 || !(find = mpi_find(&groups.size, "PMPI_Comm_size", caller)) ||
	    ((size_function *)find)(communicator, &size) != 0)
		return NULL;
	const bool all = size == groups.ranks;
	if ((all && __atomic_load_n(&groups.known, __ATOMIC_RELAXED)) ||
	    !group_functions_find(caller))
		return all ? &names->all : &names->some;
	pthread_mutex_lock(&groups.lock);
	if (!all)
		site = group_site(names->function, communicator, size);
	else if (!groups.known &&
		 ((group_function *)groups.group)(communicator, &groups.reference) == 0)
		__atomic_store_n(&groups.known, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&groups.lock);
	return all ? &names->all : site ? site : &names->some;
}
