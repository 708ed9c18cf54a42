// SPDX-License-Identifier: BSD-3-Clause
// Mutexes, reader/writer locks and the locks of accumulates: exclusion, what the last holder
// stored, and that a sleeper is woken. HELD: so long a holder keeps others waiting that they go to
// sleep.
#include "cases.h"
#include "../../internal/kernel/kernel.h"

enum { HELD = 60 };

struct guarded {
	struct shm_mutex mutex;
	struct shm_rwlock rw;
	SHM_ALIGNED long value, pair[2];
	struct k_stripes stripes;
	SHM_ALIGNED k_lock_word word[64];
	SHM_ALIGNED _Atomic uint64_t device; // the word of rw
};
static struct guarded *g(void) { return litmus_data(0); }
static uint32_t who(int me) { return (uint32_t)me + 1; }

static void increment(int me, int held)
{
	shm_lock(&g()->mutex, who(me));
	g()->value++;
	litmus_pause(held);
	shm_unlock(&g()->mutex);
}
static void lock(int me) { increment(me, 0), increment(me, 0); }
static void lock_sleep(int me) { increment(me, HELD); }
static void lock_try(int me)
{
	if (me == 0)
		increment(me, 1);
	else if (shm_trylock(&g()->mutex, who(me))) {
		g()->value++;
		shm_unlock(&g()->mutex);
	}
}
static void lock_soon(int me)
{
	uint32_t ticket;
	if (me == 0) {
		increment(me, HELD);
		return;
	}
	if (!shm_lock_soon(&g()->mutex, who(me), &ticket))
		shm_lock_queued(&g()->mutex, who(me), ticket);
	g()->value++;
	shm_unlock(&g()->mutex);
}
// The head of the queue comes late, and finds the lock free while the next in the queue sleeps.
static void lock_next(int me)
{
	uint32_t ticket;
	if (me == 0) {
		increment(me, HELD / 2);
	} else if (me == 2) {
		litmus_pause(HELD / 4);
		increment(me, 0);
	} else {
		if (!shm_lock_soon(&g()->mutex, who(me), &ticket)) {
			litmus_pause(HELD);
			shm_lock_queued(&g()->mutex, who(me), ticket);
		}
		g()->value++;
		shm_unlock(&g()->mutex);
	}
}
static void counted(void)
{
	litmus_expect("a lost increment", g()->value == shm.nlocal || g()->value == 2 * shm.nlocal);
}

static void write_pair(int me, int held)
{
	shm_exclude(&g()->rw, who(me));
	g()->pair[0]++;
	litmus_pause(held);
	g()->pair[1]++;
	shm_unexclude(&g()->rw);
}
static void read_pair(int me, int held)
{
	shm_share(&g()->rw, who(me));
	long first = g()->pair[0];
	litmus_pause(held);
	litmus_expect("a writer among readers", g()->pair[1] == first);
	shm_unshare(&g()->rw);
}
static void rwlock(int me)
{
	if (me == 0)
		write_pair(me, 0), write_pair(me, 0);
	else
		read_pair(me, 0), read_pair(me, 0);
}
static void rwlock_read_long(int me)
{
	if (me == 0)
		write_pair(me, 0);
	else
		read_pair(me, HELD);
}
static void rwlock_write_long(int me)
{
	if (me == 0)
		write_pair(me, HELD);
	else
		read_pair(me, 0);
}

// Rank 0 stands for a device of another node: it changes the word, then reads the lock.
static bool in_its_way(bool exclusive)
{
	struct shm_rwlock *l = &g()->rw;
	bool queue = atomic_load(&l->gate.next) != atomic_load(&l->gate.serving);
	return queue || atomic_load(&l->gate.owner) || (exclusive && atomic_load(&l->readers));
}
static void write_pair_by_device(void)
{
	uint64_t none = 0;
	if (!atomic_compare_exchange_strong(&g()->device, &none, SHM_WORD_WRITER))
		return;
	if (!in_its_way(true)) {
		g()->pair[0]++;
		g()->pair[1]++;
	}
	atomic_fetch_sub(&g()->device, SHM_WORD_WRITER);
}
static void read_pair_by_device(void)
{
	if (atomic_fetch_add(&g()->device, 1) < SHM_WORD_WRITER && !in_its_way(false))
		litmus_expect("a device that reads finds both", g()->pair[0] == g()->pair[1]);
	atomic_fetch_sub(&g()->device, 1);
}
static void name_word(void) { g()->rw.word = (uintptr_t)&g()->device; }
static void rwlock_word_read(int me)
{
	if (me == 0)
		write_pair_by_device();
	else
		read_pair(me, 0), read_pair(me, 0);
}
static void rwlock_word_write(int me)
{
	if (me == 0)
		read_pair_by_device(), write_pair_by_device();
	else
		write_pair(me, 0);
}

static void stripes(void)
{
	g()->stripes = (struct k_stripes){.word = g()->word, .mask = 0, .pitch_words = 16};
}
static void add(int me)
{
	struct k_stripes st = {.word = g()->word, .mask = 0, .pitch_words = 16, .owner = who(me)};
	for (int i = 0; i < 2; i++) {
		k_lock_word *word = k_stripe_word(&st, &g()->value);
		if (!k_try_lock(word, st.owner))
			k_lock_wait(word, st.owner);
		g()->value++;
		k_unlock(word);
	}
}

const struct litmus case_lock = {"lock", 2, nothing, lock, counted, 3000};
const struct litmus case_lock_sleep = {"lock-sleep", 2, nothing, lock_sleep, counted, 3000};
const struct litmus case_lock_queue = {"lock-queue", 3, nothing, lock_sleep, counted, 3000};
const struct litmus case_lock_next = {"lock-next", 3, nothing, lock_next, counted, 5000};
const struct litmus case_lock_try = {"lock-try", 2, nothing, lock_try, NULL, 2000};
const struct litmus case_lock_soon = {"lock-soon", 2, nothing, lock_soon, counted, 2000};
const struct litmus case_rwlock = {"rwlock", 2, nothing, rwlock, NULL, 5000};
const struct litmus case_rwlock_reader = {"rwlock-reader", 2, nothing, rwlock_read_long, NULL,
	3000};
const struct litmus case_rwlock_writer = {"rwlock-writer", 3, nothing, rwlock_write_long, NULL,
	3000};
const struct litmus case_rwlock_word_read = {
	"rwlock-word-read", 3, name_word, rwlock_word_read, NULL, 5000};
const struct litmus case_rwlock_word_write = {
	"rwlock-word-write", 2, name_word, rwlock_word_write, NULL, 5000};
const struct litmus case_stripe = {"stripe", 2, stripes, add, counted, 3000};
