// SPDX-License-Identifier: BSD-3-Clause
// hashtable.cc - a hash table over the memory of all ranks: slots are claimed by compare-and-swap,
// and all ranks count words in it at once. For newcomers to armci.hpp.
#include <armci.hpp>
#include <functional>
#include <iostream>

struct slot {
	long key;   // 0: free
	long count; // how often it was added
};

class table {
public:
	// collective; all slots are zero
	explicit table(std::size_t slots_per_rank) : slots_(slots_per_rank) {}

	// Adds one to the count of a key, which is not 0. One-sided: the rank that owns the slot
	// takes no part.
	void add(long key) { atomic_add(find(key).member(&slot::count), 1); }

	long count(long key) { return find(key).member(&slot::count).get(); }

	// The caller's own slots, as plain memory.
	armci::span<slot> local() const { return slots_.local(); }

private:
	// The slot of a key, claimed if it is free: from its first place on, over all ranks.
	armci::global_ptr<slot> find(long key)
	{
		const std::size_t all = slots_.size() * static_cast<std::size_t>(armci::size());
		for (std::size_t i = 0, at = std::hash<long>()(key * 2654435761L) % all; i < all;
			i++, at = (at + 1) % all) {
			const auto there = slots_.on(static_cast<int>(at / slots_.size())) +
				at % slots_.size();
			const long owner = compare_swap(there.member(&slot::key), 0, key);
			if (owner == 0 || owner == key)
				return there;
		}
		throw std::length_error("the hash table is full");
	}

	armci::shared_array<slot> slots_;
};

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	const int ranks = armci::size();
	table words(2000);

	// Every rank adds the keys 1 to 1000; rank r adds every key r + 1 times.
	for (long key = 1; key <= 1000; key++)
		for (int times = 0; times <= armci::rank(); times++)
			words.add(key);
	armci::barrier(); // all ranks see all counts

	const long each = ranks * (ranks + 1L) / 2;
	bool right = true;
	for (long key = 1 + armci::rank(); key <= 1000; key += ranks)
		right = right && words.count(key) == each;

	long here = 0;
	for (const slot &s : words.local())
		here += s.key != 0;
	const long keys = all_reduce(here, armci::op::sum);
	std::cout << "rank " + std::to_string(armci::rank()) + " holds " + std::to_string(here) +
			" of " + std::to_string(keys) + " keys, each counted " +
			std::to_string(each) +
			" times: " + (right && keys == 1000 ? "ok\n" : "WRONG\n");
	return right && keys == 1000 ? 0 : 1;
}
