#!/bin/sh
# Compiles NWChem's DFT subset into archives, then links it with one ARMCI: build.sh BUILD_DIR
# LIBDIR
#
# LIBDIR holds libarmci.so of the ARMCI-MPI ABI for Open MPI; the word `debian` means Debian's
# static libarmci-openmpi.a (reference times). Only the link depends on it, so the archives are
# compiled once. NWCHEM_OPTIMIZE is how (-O0 takes half the time); without it as NWChem's makefile
# says.
# Must not change NWChem's sources beyond the package's own conversion to 4-byte BLAS integers; the
# makefile's compiler and machine probes are answered by variables on make's command line, because
# each of the 200 makes would otherwise run 50 of them.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(dirname "$(realpath "$0")")
build=$(realpath -m "$1")
libdir=$2
jobs=${NWCHEM_JOBS:-2}
optimize=${NWCHEM_OPTIMIZE:-}
arch=$(gcc -print-multiarch)
tree=$build/tree
libs=$build/ga/lib

export NWCHEM_TOP="$tree" NWCHEM_TARGET=LINUX64 NWCHEM_MODULES='nwdft driver solvation'
export FC=gfortran CC=gcc EXTERNAL_GA_PATH="$build/ga" LARGE_FILES=TRUE NWCHEM_LONG_PATHS=y
export USE_MPI=y USE_MPIF=y USE_MPIF4=y MPI_LIB="/usr/lib/$arch/openmpi/lib"
export MPI_INCLUDE="/usr/lib/$arch/openmpi/include" LIBMPI="$(pkg-config ompi-fort --libs-only-l)"
export BLAS_SIZE=4 BLAS_LIB=-lblas LAPACK_LIB=-llapack BLASOPT='-llapack -lblas' USE_64TO32=y
export USE_SCALAPACK=y SCALAPACK=-lscalapack-openmpi SCALAPACK_SIZE=4

# nw TARGET...: make with every probe of config/makefile.h answered
nw() {
	make --no-print-directory -C "$tree/src" "$@" \
		GA_HAS_F77=Y GA_HAS_PEIGS= GA_HAS_SCALAPACK=Y GA_BLAS_SIZE=4 _USE_SCALAPACK=Y \
		LIBPATH="-L$libs -L$MPI_LIB" INCPATH="-I/usr/include -I$MPI_INCLUDE" \
		COMM_LIBS=-lpthread \
		USE_ARUR=Y _V104= GOTMINGW64= GOTCLANG= GOTFREEBSD= _CPU="$(uname -m)" \
		GNUMAJOR="$(gfortran -dumpversion | cut -d. -f1)" GNUMINOR=0 \
		GNU_GE_4_6=true GNU_GE_4_8=true GNU_GE_6=true GNU_GE_8=true GNU_GE_10=true \
		${optimize:+"FOPTIMIZE=$optimize" "FDEBUG=$optimize"} \
		${optimize:+"COPTIMIZE=$optimize" "CDEBUG=$optimize"}
}

compile() {
	mkdir -p "$build/ga/bin" "$libs" "$tree/bin/LINUX64" "$tree/lib/LINUX64"
	sed "s|@LIBS@|$libs|" "$here/ga-config.in" >"$build/ga/bin/ga-config"
	chmod +x "$build/ga/bin/ga-config"
	ln -sf "/usr/lib/$arch/libga-openmpi.a" "$libs/libga.a"
	nw nwchem_config
	nw directories
	nw -C config "$tree/bin/LINUX64/depend.x"
	# The conversion tries hundreds of names on each line: first all at once, since few lines
	# have any.
	sed -i -e 's%^\$num_from = @from;%$any = join "|", @from;\n&%' \
		-e 's%^\([ \t]*\)if ( /^c/ || %\1if ( $_ !~ /$any/io || /^c/ || %' \
		"$tree/src/config/64_to_32.pl"
	[ -e "$tree/src/64_to_32" ] || nw 64_to_32
	nw -j "$jobs" libraries
}

link() {
	rm -f "$libs"/libarmci.*
	if [ "$libdir" = debian ]; then
		ln -s "/usr/lib/$arch/libarmci-openmpi.a" "$libs/libarmci.a"
		nw nwchem_link
	else
		ln -s "$(realpath "$libdir/libarmci.so")" "$libs/libarmci.so"
		nw nwchem_link LDOPTIONS="-Wl,-rpath,$(realpath "$libdir")"
	fi
}

if [ ! -e "$build/compiled" ]; then
	start=$(date +%s)
	if ! compile >"$build/compile.log" 2>&1; then
		tail -n 30 "$build/compile.log" >&2
		exit 1
	fi
	echo "nwchem: compiled in $(($(date +%s) - start)) s"
	: >"$build/compiled"
fi
if ! link >"$build/link.log" 2>&1; then
	tail -n 30 "$build/link.log" >&2
	exit 1
fi
mv "$tree/bin/LINUX64/nwchem" "$build/nwchem"
