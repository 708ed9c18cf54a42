// SPDX-License-Identifier: BSD-3-Clause
// The words of the arena as Relacy's variables, and the weakening of orders. shim.cpp and futex.cpp
// use it.
#ifndef LITMUS_MODEL_HPP
#define LITMUS_MODEL_HPP

#include <cstdint>

// relacy.hpp defines new, malloc and more as macros; its parts do without.
#include <relacy/base.hpp>
#include <relacy/context.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/atomic.hpp>
#include <relacy/var.hpp>
#include <relacy/test_suite.hpp>
// not used here; the context needs their types
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/semaphore.hpp>
#include <relacy/stdlib/event.hpp>

namespace model {

// A word of the arena that some case has accessed. Plain memory is split into words of 4 bytes.
enum kind { UNUSED, PLAIN, ATOMIC4, ATOMIC8 };
struct word {
	uintptr_t at;
	kind what;
	bool made; // object is alive
	alignas(8) unsigned char object[96];
};

template <class T> using atom = rl::atomic<T>;
using plain = rl::var<uint32_t>;

extern bool running;                // ranks run: accesses are modelled
extern bool found;                  // a word that was not known: this run does not count
word *find(uintptr_t at, kind what); // NULL: not known until now, or not modelled now
template <class T> atom<T> *atomic_at(const volatile void *a)
{
	word *w = find(reinterpret_cast<uintptr_t>(a), sizeof(T) == 4 ? ATOMIC4 : ATOMIC8);
	return w ? reinterpret_cast<atom<T> *>(w->object) : nullptr;
}
void begin(); // makes the objects, with the values that memory has
void end();   // destroys them
void forget(); // of an earlier run: its objects are gone
void clear();  // zeroes all known words
void forget_words(); // zeroes them and begins anew, for another case

void resumed(); // after each step: this rank runs again
int order(void *from, const char *what, int asked); // at a place of the code, as it is or weakened
void choose(const char *weaken);                     // see run.sh
void print_places();
void fail(const char *what);

} // namespace model
#endif
