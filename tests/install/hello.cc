// hello.cc - hello.c in C++, over the installed armci.hpp. It must not use anything of the source
// tree. SPDX-License-Identifier: BSD-3-Clause
#include <armci.hpp>
#include <cstdio>

int main(int argc, char **argv)
{
	armci::job job(argc, argv);
	const int me = armci::rank(), np = armci::size();
	armci::shared_array<int> number(1);
	number.on((me + 1) % np)[0] = me;
	armci::barrier();
	if (number[0] != (me + np - 1) % np)
		armci::abort("wrong neighbour", number[0]);
	if (me == 0)
		std::printf("ok hello of %d\n", np);
	return 0;
}
