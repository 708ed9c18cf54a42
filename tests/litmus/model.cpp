// SPDX-License-Identifier: BSD-3-Clause
// Which words of the arena there are, and which orders the code asks for where.
// A run that finds a word that no earlier run knew does not count: Relacy's variables must exist
// before the ranks start.
#include "model.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "litmus.h"

namespace model {

namespace {

enum { WORDS = 1 << 14, PLACES = 512 };
word words[WORDS]; // a hash table
word *known[WORDS];
size_t count;

struct place {
	void *from;
	const char *what;
	int order;
	bool weakened;
};
place places[PLACES];
size_t nplaces;
const char *weaken_list = "";
int weaken_to;

word *slot(uintptr_t at)
{
	size_t i = (at * 0x9e3779b97f4a7c15ull) >> 50;
	while (words[i].what != UNUSED && words[i].at != at) i = (i + 1) % WORDS;
	return &words[i];
}

bool in_list(void *from)
{
	char text[32];
	snprintf(text, sizeof text, ",%lx,", reinterpret_cast<unsigned long>(from));
	return strstr(weaken_list, text) != nullptr;
}

place *at_place(void *from, const char *what, int asked)
{
	for (size_t i = 0; i < nplaces; i++)
		if (places[i].from == from)
			return &places[i];
	if (nplaces == PLACES)
		abort();
	places[nplaces] = place{from, what, asked, in_list(from)};
	return &places[nplaces++];
}

template <class T> void make(word *w)
{
	static_assert(sizeof(atom<T>) <= sizeof w->object, "object");
	atom<T> *v = new (w->object) atom<T>();
	v->store(*reinterpret_cast<T *>(w->at), rl::mo_relaxed, $);
}

} // namespace

bool running, found;

word *find(uintptr_t at, kind what)
{
	if (!litmus_in_arena(at))
		return nullptr;
	word *w = slot(at);
	if (w->what == UNUSED) {
		if (count == WORDS / 2)
			abort();
		*w = word{};
		w->at = at;
		w->what = what;
		known[count++] = w;
	}
	if (w->what != what) {
		if (!running)
			w->what = what; // set up by plain stores, before anything is shared
		else
			fail("plain and atomic accesses to one word");
	}
	if (!running)
		return nullptr;
	if (!w->made)
		found = true;
	return w->made ? w : nullptr;
}

void begin()
{
	for (size_t i = 0; i < count; i++) {
		word *w = known[i];
		switch (w->what) {
		case ATOMIC4: make<uint32_t>(w); break;
		case ATOMIC8: make<uint64_t>(w); break;
		default: (*new (w->object) plain())($).store(0);
		}
		w->made = true;
	}
	found = false;
	running = true;
}

void end()
{
	running = false;
	for (size_t i = 0; i < count; i++) {
		word *w = known[i];
		if (!w->made)
			continue;
		w->made = false;
		switch (w->what) {
		case ATOMIC4:
			reinterpret_cast<atom<uint32_t> *>(w->object)->~atom<uint32_t>();
			break;
		case ATOMIC8:
			reinterpret_cast<atom<uint64_t> *>(w->object)->~atom<uint64_t>();
			break;
		default: reinterpret_cast<plain *>(w->object)->~plain();
		}
	}
}

void forget()
{
	running = false;
	for (size_t i = 0; i < count; i++) known[i]->made = false;
}

void forget_words()
{
	clear();
	for (size_t i = 0; i < count; i++) *known[i] = word{};
	count = 0;
}

void clear()
{
	for (size_t i = 0; i < count; i++)
		memset(reinterpret_cast<void *>(known[i]->at), 0,
			known[i]->what == ATOMIC8 ? 8 : 4);
}

void resumed() { litmus_become(static_cast<int>(rl::ctx().threadx_->index_)); }

int order(void *from, const char *what, int asked)
{
	if (!running)
		return asked;
	place *p = at_place(from, what, asked);
	if (!p->weakened)
		return asked;
	if (weaken_to == __ATOMIC_RELAXED)
		return __ATOMIC_RELAXED;
	if (asked != __ATOMIC_SEQ_CST)
		return asked;
	return !strcmp(what, "load")   ? __ATOMIC_ACQUIRE :
		!strcmp(what, "store") ? __ATOMIC_RELEASE :
					 __ATOMIC_ACQ_REL;
}

// weaken: "r,ADDRESS,ADDRESS," makes operations that return to these addresses relaxed; with "a"
// seq_cst becomes acquire or release.
void choose(const char *weaken)
{
	weaken_to = *weaken == 'r' ? __ATOMIC_RELAXED : __ATOMIC_ACQ_REL;
	weaken_list = weaken + (*weaken != 0);
}

void print_places()
{
	static const char *const names[] = {"relaxed", "acquire", "acquire", "release", "acq_rel",
		"seq_cst"};
	for (size_t i = 0; i < nplaces; i++)
		printf("place %p %s %s\n", places[i].from, places[i].what, names[places[i].order]);
}

} // namespace model
