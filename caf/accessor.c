/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the functions that the program holds for its accesses to other images (see
 * remote.h). Each part of the program registers its own before main. An image calls them by index,
 * and asks another image for them by hash, which is the same in every process.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* In the order of registration; written with the lock held, read by caf_accessor_at without it. The
 * store of `used` releases an entry and the table it is in. A table that was too small is kept: an
 * image may be reading it. */
static struct caf_accessor *_Atomic table;
static _Atomic int used;
static int room;
static int *by_hash; /* indices, the first `sorted` */
static int sorted;

static void grow(void)
{
	int more = room ? 2 * room : 64;
	struct caf_accessor *bigger = calloc((size_t)more, sizeof *bigger);
	int *order = realloc(by_hash, (size_t)more * sizeof *order);
	if (!bigger || !order)
		caf_fatal("no memory for the program's %d accessor functions", used + 1);
	if (used)
		memcpy(bigger, table, (size_t)used * sizeof *bigger);
	atomic_store_explicit(&table, bigger, memory_order_release);
	by_hash = order;
	room = more;
}

CAF_API void _gfortran_caf_register_accessor(int hash, void (*function)(void))
{
	pthread_mutex_lock(&lock);
	if (used == room)
		grow();
	struct caf_accessor *a = &table[used];
	a->hash = hash;
	a->run.any = function;
	atomic_store_explicit(&used, used + 1, memory_order_release);
	pthread_mutex_unlock(&lock);
}

static int compare(const void *a, const void *b)
{
	int x = table[*(const int *)a].hash, y = table[*(const int *)b].hash;
	return x < y ? -1 : x > y;
}

static void sort(void)
{
	for (int i = sorted; i < used; i++) by_hash[i] = i;
	sorted = used;
	qsort(by_hash, (size_t)used, sizeof *by_hash, compare);
	for (int i = 1; i < used; i++) {
		const struct caf_accessor *a = &table[by_hash[i - 1]], *b = &table[by_hash[i]];
		if (a->hash == b->hash && a->run.any != b->run.any)
			caf_fatal("the compiler has given the hash %d to two accessor functions: "
				  "rename a coarray or procedure",
				a->hash);
	}
}

CAF_API void _gfortran_caf_register_accessors_finish(void)
{
	pthread_mutex_lock(&lock);
	if (sorted < used)
		sort();
	pthread_mutex_unlock(&lock);
}

/* Index of the accessor, or -1. */
static int find(int hash)
{
	int low = 0, high;
	pthread_mutex_lock(&lock);
	if (sorted < used)
		sort();
	high = used;
	while (low < high) {
		int middle = low + (high - low) / 2;
		if (table[by_hash[middle]].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	int index = low < used && table[by_hash[low]].hash == hash ? by_hash[low] : -1;
	pthread_mutex_unlock(&lock);
	return index;
}

/* -1: there is none; the access reports it. */
CAF_API int _gfortran_caf_get_remote_function_index(int hash) { return find(hash); }

const struct caf_accessor *caf_accessor_at(int index)
{
	if ((unsigned)index >= (unsigned)atomic_load_explicit(&used, memory_order_acquire))
		return NULL;
	return atomic_load_explicit(&table, memory_order_acquire) + index;
}

const struct caf_accessor *caf_accessor_of(int hash) { return caf_accessor_at(find(hash)); }
