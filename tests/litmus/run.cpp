// SPDX-License-Identifier: BSD-3-Clause
// Runs cases under Relacy's random scheduler: litmus [-places] [-weaken LIST] [CASE...]. Prints a
// line for each. Also what the code calls that waits: it yields, sleeps on futexes that Relacy
// knows, and its clock is a counter, so that a run can be repeated.
#include "model.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "litmus.h"

namespace {

const litmus *current;
const char *failure;
uint64_t now;

template <rl::thread_id_t RANKS> struct suite : rl::test_suite<suite<RANKS>, RANKS> {
	void before()
	{
		now = 0;
		model::clear();
		litmus_attach(current->ranks);
		current->set_up();
		model::begin();
	}
	void thread(unsigned index)
	{
		model::resumed();
		current->rank(static_cast<int>(index));
	}
	void after()
	{
		model::running = false;
		if (current->at_end && !model::found)
			current->at_end();
		model::end();
		if (model::found)
			rl::ctx().rl_until("a new word", $);
	}
};

template <rl::thread_id_t RANKS> rl::test_result_e once()
{
	rl::test_params params;
	rl::ostringstream out;
	params.iteration_count = static_cast<rl::iteration_t>(current->iterations);
	params.output_stream = params.progress_stream = &out;
	params.execution_depth_limit = 20000;
	rl::test_result_e result = rl::run_test<suite<RANKS>, rl::random_scheduler<RANKS>>(params,
		out, false);
	return result;
}

// 0, or 1 and a line that says what is wrong
int run(const litmus *c)
{
	rl::test_result_e result;
	current = c;
	model::forget_words();
	do {
		failure = nullptr;
		model::forget();
		result = c->ranks == 2 ? once<2>() : c->ranks == 3 ? once<3>() : once<9>();
	} while (model::found);
	if (result == rl::test_result_success)
		printf("ok %s\n", c->name);
	else
		printf("FAILED %s: %s\n", c->name, failure ? failure : rl::test_result_str(result));
	fflush(stdout);
	return result != rl::test_result_success;
}

bool wanted(const litmus *c, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], c->name))
			return true;
	return argc == 0;
}

} // namespace

void model::fail(const char *what)
{
	failure = what;
	rl::ctx().fail_test(what, rl::test_result_user_assert_failed, $);
}

extern "C" {

void litmus_expect(const char *what, bool ok)
{
	if (!ok && !model::found)
		model::fail(what);
}

void litmus_pause(int steps)
{
	for (int i = 0; i < steps; i++) {
		rl::ctx().sched();
		model::resumed();
	}
}

// Not Relacy's yield: behind that, a thread sees what others stored before, which no processor
// promises.
int litmus_yield(void)
{
	litmus_pause(1);
	return 0;
}

int litmus_nanosleep(const struct timespec *, struct timespec *) { return litmus_yield(); }

int litmus_clock(int, struct timespec *t)
{
	now += 1000;
	*t = timespec{static_cast<time_t>(now / 1000000000), static_cast<long>(now % 1000000000)};
	return 0;
}

int litmus_nothing(void *) { return 0; }

int litmus_cpu() { return -1; } // as where it is not known

// futex(word, FUTEX_WAIT or FUTEX_WAKE, value, ...). There is no limit of time: a thread that
// is not woken sleeps for ever.
long litmus_syscall(long, uint32_t *word, int what, uint32_t value, ...)
{
	model::atom<uint32_t> *v = model::atomic_at<uint32_t>(word);
	if (!v) { // a new word: this run does not count
		litmus_yield();
		return 0;
	}
	rl::atomic_thread_fence(rl::mo_seq_cst, $); // of the kernel, on both sides, before it looks
	if (what == FUTEX_WAKE) {
		v->wake(rl::ctx(), value > 9 ? 9 : static_cast<rl::thread_id_t>(value), $);
		litmus_pause(1);
		return 0;
	}
	if (v->load(rl::mo_seq_cst, $) == value) // no rank runs between this and the next
		v->wait(rl::ctx(), false, false, $);
	model::resumed();
	return 0;
}

} // extern "C"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "-names")) {
		for (const litmus *const *c = litmus_cases; *c; c++) printf("%s\n", (*c)->name);
		return 0;
	}
	bool places = argc > 1 && !strcmp(argv[1], "-places");
	argc -= 1 + places;
	argv += 1 + places;
	bool weaken = argc > 1 && !strcmp(argv[0], "-weaken");
	if (weaken) {
		model::choose(argv[1]);
		argc -= 2;
		argv += 2;
	}
	int bad = 0;
	for (const litmus *const *c = litmus_cases; *c && !(bad && weaken); c++)
		if (wanted(*c, argc, argv))
			bad |= run(*c);
	if (places)
		model::print_places();
	return bad;
}
