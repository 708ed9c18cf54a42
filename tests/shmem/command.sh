# SPDX-License-Identifier: BSD-3-Clause
# command.sh - what bin/armci-oshcc, bin/armci-oshc++ and bin/armci-oshrun promise: usage, clear
# errors, what they run, that programs work with the shared and the static library, in C++ too, with
# variables at fixed addresses, and beside an MPI that they begin and end themselves; and that a
# tool finds the names of the profiling interface.
#
#   BUILD=... WORK=... sh command.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$WORK" && cd "$WORK" || exit 1
command=$BUILD/bin/armci-oshcc
osh=$BUILD/bin/armci-oshrun
. "$here/../says.sh"

run "help" 0 "$command" -h
says out '^usage: armci-oshcc '
silent err
run "no arguments" 2 "$command"
run "version" 0 "$command" -version
says out '^armci-oshcc (libarmci) [0-9]'
run "what it runs" 0 "$command" -show -O2 a.c -o a
says out " -O2 a\.c -o a -L\(/.*/lib\) -Wl,-rpath,\1 -lshmem_armci -larmci -lpthread -lm\$"
run "another compiler" 0 "$command" -cc='other -x' -show -c a.c
says out '^other -x -I.* -c a\.c$'
run "run: help" 0 "$osh" -h
says out '^usage: armci-oshrun '

run "in one step" 0 "$command" -O2 "$here/variables.c" -o variables
run "two PEs" 0 "$osh" -np 2 ./variables
says out '^ok variables$'
run "alone" 0 ./variables
says out '^ok variables$'
run "at fixed addresses" 0 "$command" -fno-pie -no-pie "$here/variables.c" -o fixed
run "two PEs" 0 "$osh" -np 2 ./fixed
says out '^ok variables$'
ln -sf "$command" link
run "in two steps, through a link" 0 ./link -c "$here/transfer.c" -o transfer.o
run "linking" 0 ./link -static-shmem transfer.o -o static
run "two PEs" 0 "$osh" -np 2 ./static
says out '^ok transfer$'
! ldd ./static | grep libshmem_armci || fail "it needs the shared library"
cat >cxx.cc <<'END'
#include <shmem.h>
static long to;
int main() {
	shmem_init();
	shmem_long_p(&to, 3, 0);
	shmem_barrier_all();
	bool good = shmem_my_pe() != 0 || to == 3;
	shmem_finalize();
	return good ? 0 : 1;
}
END
run "C++" 0 "$BUILD/bin/armci-oshc++" cxx.cc -o cxx
run "two PEs" 0 "$osh" -np 2 ./cxx
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
for mpi in openmpi mpich; do
	command -v mpicc.$mpi >/dev/null || { echo "skip beside $mpi: no mpicc.$mpi"; continue; }
	run "beside $mpi" 0 "$command" -cc=mpicc.$mpi "$here/ends/beside.c" -o beside
	for late in "" late; do
		run "two PEs $late" 0 mpiexec.$mpi -n 2 ./beside $late
		says out '^ok beside$'
	done
done
cat >tool.c <<'END'
#include <stdio.h>
#include <shmem.h>
static int calls;
void shmem_long_p(long *dest, long value, int pe) { calls++; pshmem_long_p(dest, value + 1, pe); }
int main(void) {
	static long to;
	shmem_init();
	shmem_long_p(&to, 3, shmem_my_pe());
	shmem_quiet();
	int good = to == 4 && calls == 1;
	shmem_finalize();
	return !good;
}
END
run "a tool" 0 "$command" tool.c -o tool
run "two PEs" 0 "$osh" -np 2 ./tool
cat >size.c <<'END'
#include <shmem.h>
int main(void) {
	shmem_init();
	int good = shmem_malloc(3 << 20) != NULL && shmem_malloc(2 << 20) == NULL;
	shmem_finalize();
	return !good;
}
END
run "size" 0 "$command" size.c -o size
run "a heap of 4.5m" 0 env SHMEM_SYMMETRIC_SIZE=4.5m "$osh" -np 2 ./size
run "by the older name" 0 env SMA_SYMMETRIC_SIZE=4608k "$osh" -np 2 ./size
run "no size" 1 env SHMEM_SYMMETRIC_SIZE=much "$osh" -np 1 ./size
says err 'SHMEM_SYMMETRIC_SIZE=much is no size in bytes'
run "version" 0 env SHMEM_VERSION=1 SHMEM_INFO=1 SHMEM_SYMMETRIC_SIZE=4.5m "$osh" -np 2 ./size
says out '^OpenSHMEM 1.5, libarmci '
says out '^SHMEM_SYMMETRIC_SIZE '
echo "$failures failures"
[ $failures -eq 0 ]
