#!/bin/sh
# Litmus tests of the node's C code: compiles it for the thread sanitizer, links it with Relacy's
# model of C11's memory order instead of the sanitizer, and runs the cases:
# run.sh CC CXX SOURCE WORK [weaken|update]
# weaken: also compares orders.txt, which says for each place what order it has to have, with what
# the cases find.
# update: writes orders.txt.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cc=$1 cxx=$2 source=$3 work=$4 what=${5:-}
here=$source/tests/litmus internal=$source/internal
echo '#include <relacy/base.hpp>' | "$cxx" -x c++ -fsyntax-only - 2>/dev/null ||
	{ echo "SKIP: no Relacy (Debian's relacy-dev) for $cxx"; exit 77; }
echo 'int x;' | "$cc" -fsanitize=thread -x c -c -o /dev/null - 2>/dev/null ||
	{ echo "SKIP: $cc has no thread sanitizer"; exit 77; }
mkdir -p "$work"
rm -f "$work"/*.o

# What the model does in place of the C library. Locks of threads are not modelled: each rank has
# one thread.
hooks="-Dmemcpy=litmus_memcpy -Dsyscall=litmus_syscall -Dsched_yield=litmus_yield
	-Dnanosleep=litmus_nanosleep -Dclock_gettime=litmus_clock -Dsched_getcpu=litmus_cpu
	-Dpthread_mutex_lock=litmus_nothing -Dpthread_mutex_unlock=litmus_nothing"
for f in lock rwlock wait receive team collect event layout notify message send declared; do
	modelled="${modelled:-} $internal/shm/$f.c"
done
for f in policy look sleep cpu; do
	modelled="$modelled $internal/wait/$f.c"
done
for f in $modelled "$internal"/kernel/wait.c "$here"/locks.c "$here"/sync.c "$here"/tables.c \
	"$here"/flags.c "$here"/cases.c; do
	# shellcheck disable=SC2086
	"$cc" -std=gnu11 -g -O1 -fno-pie -fsanitize=thread -Wall -Wextra -Werror -Wno-tsan $hooks \
		-c -o "$work/$(basename "$(dirname "$f")")-$(basename "$f" .c).o" "$f"
done
"$cc" -std=gnu11 -g -O1 -fno-pie -Wall -Wextra -c -o "$work/arena.o" "$here/arena.c"
for f in "$internal"/kernel/*.c; do
	[ "$f" = "$internal/kernel/wait.c" ] ||
		"$cc" -std=c11 -O1 -fno-pie -c -o "$work/kernel-$(basename "$f" .c).o" "$f"
done
for f in model shim run; do
	"$cxx" -std=c++17 -g -O2 -fno-pie -Wall -Wextra -c -o "$work/$f.o" "$here/$f.cpp"
done
# Calls of Go and of profiling, which no case reaches, stay open.
"$cxx" -no-pie -o "$work/litmus" "$work"/*.o -lpthread \
	-Wl,--unresolved-symbols=ignore-in-object-files

"$work/litmus"
case $what in
update) sh "$here/orders.sh" "$work/litmus" "$here/orders.txt" ;;
weaken)
	sh "$here/orders.sh" "$work/litmus" "$work/orders.txt"
	# The last column, which case it is, may depend on the compiler.
	sed 's/ [^ ]*$//' "$here/orders.txt" >"$work/expected.columns"
	sed 's/ [^ ]*$//' "$work/orders.txt" >"$work/found.columns"
	diff "$work/expected.columns" "$work/found.columns" ||
		{ echo "orders.txt differs: see docs/memory-model.md"; exit 1; }
	;;
esac
