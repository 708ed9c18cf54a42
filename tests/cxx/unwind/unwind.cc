// SPDX-License-Identifier: BSD-3-Clause
// unwind.cc - the last rank leaves main's try block by an exception while the others wait in a
// collective: its destructors must not wait, its handler runs, and its exit status, 3, ends the
// job. Run by run.sh.
#include <armci.hpp>
#include <iostream>

int main(int argc, char **argv)
{
	try {
		armci::job job(argc, argv);
		armci::shared_array<int> a(10);
		armci::mutexes set(1);
		armci::barrier();
		if (armci::rank() == armci::size() - 1)
			a.on(armci::size()); // no such rank
		armci::barrier();
		return 0;
	} catch (const std::exception &e) {
		std::cerr << e.what() << '\n';
		return 3;
	}
}
