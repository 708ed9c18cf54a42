#!/bin/sh
# Installs into a fresh prefix, moves it elsewhere, and uses it as a user would: pkg-config,
# find_package and plain -larmci, in C, C++ and Fortran, under each launcher that is here. It must
# not see the build tree, only the prefix. Input: BUILD WORK CMAKE, and per flavour F in none
# openmpi mpich: CC_F CXX_F FC_F RUN_F (launcher with its rank count).
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v pkg-config >/dev/null 2>&1 || { echo "SKIP: no pkg-config"; exit 77; }

say() { echo "install: $*"; }
fail() { say "FAILED: $*"; exit 1; }

rm -rf "$WORK"
mkdir -p "$WORK"
DESTDIR="$WORK/dest" "$CMAKE" --install "$BUILD" --prefix /opt/first >"$WORK/install.log"
prefix=$WORK/moved
mv "$WORK/dest/opt/first" "$prefix"
pcfile=$(find "$prefix" -name armci.pc)
lib=$(dirname "$(dirname "$pcfile")")
PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion armci)" = "0.1.0" ] || fail "version of armci.pc"

for file in include/armci.h include/message.h include/parmci.h include/gpc.h include/armcix.h \
	include/armci.hpp include/armci/memory.hpp include/armci-mpi/armci.hpp include/armci.f90 \
	include/armci-fortran/types.inc include/armci-mpi/openmpi/armci.f90 \
	include/armci-mpi/armci.h bin/armcirun bin/armci_info bin/armci_perf bin/armcicc \
	bin/armci_accept share/man/man1/armci_accept.1 share/man/man1/armcirun.1 \
	share/man/man1/armcicc.1 bin/armcifort bin/armcicxx \
	share/man/man1/armcifort.1 share/man/man1/armcicxx.1 \
	share/man/man3/ARMCI_PutS.3 share/man/man3/PARMCI_GetS.3 \
	share/doc/libarmci/html/index.html share/doc/libarmci/html/search.js \
	share/doc/libarmci/html/tutorial.html share/doc/libarmci/README.md \
	share/doc/libarmci/docs/tutorial.md share/doc/libarmci/examples/c/hello.c \
	share/doc/libarmci/libarmci.txt share/doc/libarmci/go.txt \
	share/doc/libarmci/golang.org-x-sys.txt \
	share/doc/libarmci/github.com-ianlancetaylor-cgosymbolizer.txt \
	share/doc/libarmci/libbacktrace.txt; do
	[ -s "$prefix/$file" ] || fail "$file is not installed"
done
[ ! -e "$BUILD/lib/libarmci-mpirma.so" ] || for file in \
	"${lib#"$prefix"/}/libarmci-mpirma.so" bin/armci-mpirma \
	"${lib#"$prefix"/}/pkgconfig/armci-mpirma.pc" share/man/man1/armci-mpirma.1; do
	[ -s "$prefix/$file" ] || fail "$file is not installed"
done
[ ! -e "$BUILD/lib/libcaf_armci.so" ] || for file in \
	"${lib#"$prefix"/}/libcaf_armci.so.0" "${lib#"$prefix"/}/libcaf_armci.a" \
	"${lib#"$prefix"/}/pkgconfig/armci-caf.pc" bin/caf-armci share/man/man1/caf-armci.1; do
	[ -s "$prefix/$file" ] || fail "$file is not installed"
done
[ ! -e "$BUILD/lib/libshmem_armci.so" ] || for file in \
	"${lib#"$prefix"/}/libshmem_armci.so.0" "${lib#"$prefix"/}/libshmem_armci.a" \
	"${lib#"$prefix"/}/pkgconfig/armci-shmem.pc" bin/armci-oshcc bin/armci-oshc++ \
	bin/armci-oshrun "${lib#"$prefix"/}/armci-shmem/bin/oshcc" include/armci-shmem/shmem.h \
	share/man/man1/armci-oshcc.1; do
	[ -s "$prefix/$file" ] || fail "$file is not installed"
done
grep -rlF -e "$WORK" -e "$BUILD" "$prefix" --include='*.pc' --include='*.cmake' --include='*.h' &&
	fail "a path of the build is installed"
"$prefix/bin/armci_info" >"$WORK/info.log" || fail "armci_info"
"$prefix/bin/armci_perf" -quick small >"$WORK/perf.log" || fail "armci_perf"
"$prefix/bin/armci_accept" -quick -o "$WORK/accept" -only correctness -transports tcp \
	"$prefix/bin/armcirun" -nodes 2 -n 2 >"$WORK/accept.log" 2>&1 || fail "armci_accept"
[ -z "$(find "$prefix" -name 'worker-*' -o -name 'bench*')" ] || fail "benchmarks are installed"

# started COMMAND...: runs it under the flavour's launcher and wants the program's own word of
# success.
started() {
	# shellcheck disable=SC2086
	"$@" >"$WORK/out.log" 2>&1 || { cat "$WORK/out.log"; fail "$*"; }
	grep -q '^ *ok hello of 2' "$WORK/out.log" || {
		cat "$WORK/out.log"
		fail "$* did not say ok"
	}
	say "ok: $*"
}

# with_pkg_config FLAVOUR COMPILER SOURCE LAUNCHER
with_pkg_config() {
	program=$WORK/hello_$1_${3##*.}
	# shellcheck disable=SC2046
	"$2" -o "$program" "$here/$3" $(pkg-config --cflags --libs armci) ||
		fail "$2 $3 with pkg-config"
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$lib started $4 "$program"
}

# with_armcicc FLAVOUR COMPILER SOURCE LAUNCHER: the wrapper of the source's language, in two steps,
# through a link to the wrapper, started without a search path.
with_armcicc() {
	program=$WORK/hello_wrapped_$1_${3##*.}
	wrapper=armcicc option=-cc
	case $3 in
	*.f90) wrapper=armcifort option=-fc ;;
	*.cc) wrapper=armcicxx option=-cxx ;;
	esac
	ln -sf "$prefix/bin/$wrapper" "$WORK/$wrapper"
	"$WORK/$wrapper" $option="$2" -Wall -Werror -c -o "$program.o" "$here/$3" ||
		fail "$wrapper $option=$2 -c $3"
	"$WORK/$wrapper" $option="$2" -o "$program" "$program.o" || fail "$wrapper $option=$2 $3"
	started $4 "$program"
}

# with_mpi_abi FLAVOUR COMPILER SOURCE LAUNCHER. The other ABI: its own include directory and
# library, chosen by the name of its .pc file, and found without a search path.
with_mpi_abi() {
	program=$WORK/hello_abi_$1_${3##*.}
	# shellcheck disable=SC2046
	"$2" -o "$program" "$here/$3" $(pkg-config --cflags --libs "armci-mpi-$1") ||
		fail "$2 $3 with armci-mpi-$1"
	# shellcheck disable=SC2086
	started $4 "$program"
}

# module_source DIRECTORY: the installed sources of the Fortran module are complete, for a user with
# another compiler.
module_source() {
	mkdir -p "$WORK/module"
	(cd "$WORK/module" && "$FC_none" -c "$1/armci.f90" -o armci.o && [ -s armci.mod ]) ||
		fail "compiling $1/armci.f90"
}

# with_mpirma FLAVOUR COMPILER LAUNCHER: a program with windows, not linked with anything of ours,
# through the command, through a link to it, and by what pkg-config says, preloaded and linked.
with_mpirma() {
	program=$WORK/hello_windows_$1
	"$2" -Wall -Werror -o "$program" "$here/hello_windows.c" || fail "$2 hello_windows.c"
	ln -sf "$prefix/bin/armci-mpirma" "$WORK/armci-mpirma"
	started $3 "$prefix/bin/armci-mpirma" "$program"
	started $3 "$WORK/armci-mpirma" "$program"
	started $3 env LD_PRELOAD="$(pkg-config --variable=preload armci-mpirma)" "$program"
	# shellcheck disable=SC2046
	"$2" "$here/hello_windows.c" $(pkg-config --cflags --libs armci-mpirma) -o "$program" ||
		fail "$2 hello_windows.c with armci-mpirma"
	started $3 "$program"
}

# with_coarrays FLAVOUR FC LAUNCHER: through a link to the command, started without a search path;
# statically and by what pkg-config says, once.
with_coarrays() {
	program=$WORK/hello_coarrays_$1
	ln -sf "$prefix/bin/caf-armci" "$WORK/caf-armci"
	"$WORK/caf-armci" -fc="$2" -Wall -Werror -o "$program" "$here/hello_coarrays.f90" ||
		fail "caf-armci -fc=$2"
	# shellcheck disable=SC2086
	started $3 "$program"
	[ "$1" = none ] || return 0
	"$WORK/caf-armci" -fc="$2" -static-caf -o "$program" "$here/hello_coarrays.f90" ||
		fail "caf-armci -static-caf -fc=$2"
	# shellcheck disable=SC2086
	started $3 "$program"
	# shellcheck disable=SC2046
	"$2" -o "$program" "$here/hello_coarrays.f90" $(pkg-config --cflags --libs armci-caf) ||
		fail "$2 with armci-caf"
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$lib started $3 "$program"
}

# with_cmake FLAVOUR CC FC LAUNCHER
with_cmake() {
	tree=$WORK/cmake_$1
	fortran=OFF
	[ -n "$3" ] && [ -e "$prefix/include/armci.mod" ] && fortran=ON
	coarrays=OFF
	[ $fortran = ON ] && [ -e "$lib/libcaf_armci.so" ] && coarrays=ON
	{ "$CMAKE" -S "$here/consumer" -B "$tree" -DCMAKE_PREFIX_PATH="$prefix" -DPROGRAMS="$here" \
		-DCMAKE_C_COMPILER="$2" \
		-DCMAKE_Fortran_COMPILER="$3" -DWITH_FORTRAN=$fortran -DWITH_COARRAYS=$coarrays &&
		"$CMAKE" --build "$tree"; } >"$WORK/cmake.log" 2>&1 ||
		{ cat "$WORK/cmake.log"; fail "find_package under $1"; }
	# shellcheck disable=SC2086
	started $4 "$tree/hello_c"
	# shellcheck disable=SC2086
	[ $fortran = OFF ] || started $4 "$tree/hello_f"
	# shellcheck disable=SC2086
	[ $coarrays = OFF ] || started $4 "$tree/hello_coarrays"
}

# The Python package finds the library of its own prefix, without a search path; so does a copy by
# pip, with one.
with_python() {
	. "$here/../python/which.sh"
	[ -n "$PYTHON" ] || { say "skipped: no Python with NumPy"; return 0; }
	export PYTHONDONTWRITEBYTECODE=1
	[ -e "$prefix/share/libarmci/python/armci/py.typed" ] ||
		fail "the Python package is not installed"
	PYTHONPATH=$prefix/share/libarmci/python started "$prefix/bin/armcirun" -n 2 "$PYTHON" \
		"$here/hello.py"
	! PYTHONPATH=$prefix/share/libarmci/python ARMCI_TIMEOUT=nonsense "$PYTHON" \
		"$here/hello.py" >"$WORK/out.log" 2>&1 ||
		fail "a job that cannot start goes on"
	grep -q 'armci.errors.Error: init: ' "$WORK/out.log" || {
		cat "$WORK/out.log"
		fail "no Error of init"
	}
	for module in pip setuptools wheel; do
		"$PYTHON" -c "import $module" 2>/dev/null || {
			say "skipped: Python has no $module"
			return 0
		}
	done
	cp -r "$here/../../python" "$WORK/python"
	"$PYTHON" -m pip install --quiet --no-index --no-deps --no-build-isolation \
		--target "$WORK/site" "$WORK/python" >"$WORK/pip.log" 2>&1 ||
		{ cat "$WORK/pip.log"; fail "pip install"; }
	PYTHONPATH=$WORK/site LD_LIBRARY_PATH=$lib started "$prefix/bin/armcirun" -n 2 "$PYTHON" \
		"$here/hello.py"
}

with_python
for flavour in none openmpi mpich; do
	eval "cc=\$CC_$flavour cxx=\$CXX_$flavour fc=\$FC_$flavour run=\$RUN_$flavour"
	if [ -z "$cc" ] || [ -z "$run" ]; then
		say "skipped: no compiler or launcher of $flavour"
		continue
	fi
	[ $flavour != none ] || run="$prefix/bin/armcirun -n 2"
	with_pkg_config $flavour "$cc" hello.c "$run"
	[ -z "$fc" ] || [ ! -e "$prefix/include/armci.mod" ] ||
		with_pkg_config $flavour "$fc" hello.f90 "$run"
	with_armcicc $flavour "$cc" hello.c "$run"
	[ -z "$fc" ] || [ ! -e "$prefix/include/armci.mod" ] ||
		with_armcicc $flavour "$fc" hello.f90 "$run"
	[ -z "$cxx" ] || with_armcicc $flavour "$cxx" hello.cc "$run"
	with_cmake $flavour "$cc" "$fc" "$run"
	[ ! -e "$lib/pkgconfig/armci-mpi-$flavour.pc" ] ||
		with_mpi_abi $flavour "$cc" hello_mpi.c "$run"
	[ ! -e "$lib/pkgconfig/armci-mpi-$flavour.pc" ] || [ -z "$cxx" ] ||
		with_mpi_abi $flavour "$cxx" hello.cc "$run"
	[ -z "$fc" ] || [ ! -e "$prefix/include/armci-mpi/$flavour/armci.mod" ] ||
		with_mpi_abi $flavour "$fc" hello.f90 "$run"
	[ -z "$fc" ] || [ ! -e "$lib/pkgconfig/armci-caf.pc" ] ||
		with_coarrays $flavour "$fc" "$run"
	[ $flavour = none ] || [ ! -e "$lib/pkgconfig/armci-mpirma.pc" ] ||
		with_mpirma $flavour "$cc" "$run"
done

[ -z "$FC_none" ] || for directory in "$prefix/include" "$prefix/include/armci-mpi/openmpi" \
	"$prefix/include/armci-mpi/mpich"; do
	module_source "$directory"
done

# In a place where the compiler looks anyway, -larmci is all.
CPATH="$prefix/include" LIBRARY_PATH="$lib" $CC_none -o "$WORK/plain" "$here/hello.c" -larmci ||
	fail "cc app.c -larmci"
LD_LIBRARY_PATH=$lib "$WORK/plain" | grep -q 'ok hello of 1' || fail "a single process"
"$prefix/bin/armcicc" -show app.c | grep -q -x \
	-- ".* -I$prefix/include app.c -L$lib -Wl,-rpath,$lib -larmci" || fail "armcicc -show"
say "all ok"
