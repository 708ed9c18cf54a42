// SPDX-License-Identifier: BSD-3-Clause
// errors.cc - a wrong argument throws, with function, argument and ranks in the text, changes
// nothing, and the job goes on. Also before there is a job and after its end. Runs with
// ARMCI_ERRORS=return.
#include "check.hpp"

static void transfers(const armci::shared_array<int> &a)
{
	const int n = armci::size(), at = right();
	const std::string range = "out of range 0.." + std::to_string(n - 1) + " (FAIL5)",
			  rank = " of rank " + std::to_string(at);
	const armci::global_ptr<int> nobody(n, a.on(0).address()), beyond = a.on(at) + 10;
	std::vector<int> some(4);
	CHECK_THROWS("ARMCI_Put", FAIL5, "argument proc, rank " + std::to_string(n) + ": " + range,
		nobody.put(1));
	CHECK_THROWS("ARMCI_Get", FAIL5, range,
		(void)armci::global_ptr<const int>(-1, nobody.address()).get());
	CHECK_THROWS("ARMCI_Put", FAIL8, "argument dst, 4 bytes at 0x", beyond.put(1));
	CHECK_THROWS("ARMCI_Get", FAIL8, rank + ": not inside one live allocation (FAIL8)",
		(void)int(beyond[0]));
	CHECK_THROWS("ARMCI_Put", FAIL8, "argument dst, 16 bytes at 0x", put(some, a.on(at) + 7));
	CHECK_THROWS("ARMCI_Get", FAIL8, "argument src, 16 bytes at 0x", get(a.on(at) + 7, some));
	CHECK_THROWS("ARMCI_Acc", FAIL8, "argument dst, 16 bytes", acc(some, a.on(at) + 7));
	CHECK_THROWS("ARMCI_NbPut", FAIL8, rank, nb_put(some, a.on(at) + 7).wait());
	CHECK_THROWS("ARMCI_NbGet", FAIL5, range, nb_get(nobody, some).wait());
	CHECK_THROWS("ARMCI_PutS", FAIL8, "argument dst_ptr, 16 bytes",
		put(armci::patch<int, 1>({4}, {1}, {1}), some.data(), a.on(at) + 7));
	CHECK_THROWS("ARMCI_Put_flag", FAIL, "of another rank",
		put_flag(some, a.on(at), nobody, 1));
	armci::pieces<int> list;
	list.add(&some[0], beyond);
	CHECK_THROWS("ARMCI_PutV", FAIL8, "argument darr, 4 bytes", put(list));
	CHECK_THROWS("pieces::add", FAIL5, "argument remote: of rank " + std::to_string(n),
		list.add(&some[0], nobody));
	CHECK_EQ(list.size(), 1u);
}

static void others(const armci::shared_array<int> &a)
{
	const int n = armci::size();
	CHECK_THROWS("ARMCIX_Atomic", FAIL5, "argument proc",
		fetch_add(armci::global_ptr<int>(n, a.on(0).address()), 1));
	CHECK_THROWS("ARMCIX_Atomic", FAIL7, "argument prem",
		fetch_add(armci::global_ptr<int>((a.here().cast<char>() + 1).cast<int>()), 1));
	CHECK_THROWS("shared_array::on", FAIL5, "rank -1: out of range 0..", (void)a.on(-1));
	CHECK_THROWS("armci_notify", FAIL5, "out of range", armci::notify(n));
	CHECK_THROWS("armci_domain_id", armci_domain_id(ARMCI_DOMAIN_SMP, n), "",
		armci::node_of(n));
	CHECK_THROWS("ARMCI_WaitProc", FAIL5, "out of range", armci::wait_all(n));
	CHECK_THROWS("ARMCI_Absolute_id", FAIL5, "no such member",
		armci::group::world().world_rank(n));
	CHECK_THROWS("ARMCIX_Event_wait", FAIL8, "argument event", armci::event e{}; e.wait(0));
	CHECK_THROWS("ARMCI_Malloc", FAIL3, "elements of 8 bytes",
		armci::shared_array<long>(~std::size_t{0}));
	CHECK_THROWS("ARMCI_Malloc_local", FAIL6, "bytes",
		armci::local_array<char>(std::size_t(1) << 60));
	CHECK_THROWS("patch", FAIL4, "remote stride of 3000000000 elements: not in 0..",
		(void)armci::patch<int, 2>({2, 2}, {2, 1}, {3000000000, 1}));
	CHECK_THROWS("patch", FAIL3, "count of -1 elements",
		(void)armci::patch<int, 2>({2, -1}, {2, 1}, {2, 1}));
	armci::dims<9> apart;
	apart.fill(2);
	CHECK_THROWS("patch", FAIL4, "9 dimensions of single elements",
		(void)armci::patch<int, 9>(apart, apart, apart));
	CHECK_THROWS("ARMCIX_Create_mutexes_hdl", FAIL3, "argument count, -1", armci::mutexes(-1));
}

// Every rank asks for more than there is, and gets an exception; memory and job are as before.
static void no_memory()
{
	CHECK_THROWS("ARMCI_Malloc", FAIL6, "no memory left",
		armci::shared_array<char>(std::size_t(1) << 60));
	// one alone fails all, the others by FAIL6
	const bool greedy = armci::rank() == armci::size() - 1;
	CHECK_THROWS("ARMCI_Malloc", greedy ? FAIL3 : FAIL6, "or so at another rank",
		armci::shared_array<long>(greedy ? ~std::size_t{0} : 1));
	armci::shared_array<int> b(1);
	b.on(right())[0] = 3;
	armci::barrier();
	CHECK_EQ(b[0], 3);
}

int main(int argc, char **argv)
{
	try {
		armci::global_ptr<int>(0, &argc).put(1);
		return 1;
	} catch (const armci::error &e) {
		if (std::string(e.what()).find("armci: ARMCI_Put: ") != 0 || e.code() != FAIL)
			return 2;
	}
	armci::handle outlives;
	armci::shared_array<int> late;
	{
		armci::job job(argc, argv);
		armci::shared_array<int> a(10);
		transfers(a);
		others(a);
		no_memory();
		armci::barrier();
		for (int x : a.local())
			CHECK_EQ(x, 0);
		late = armci::shared_array<int>(5); // finalize frees it
		check_end("errors");
	}
	return 0;
}
