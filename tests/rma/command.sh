# SPDX-License-Identifier: BSD-3-Clause
# command.sh - what bin/armci-mpirma promises: usage, clear errors, a line when asked and once per
# job, one warning about windows left to the MPI, what was preloaded before stays, the program's
# exit status, and that it works through a link.
#
#   BUILD=... [CC_openmpi=... RUN_openmpi="... -n 2"] WORK=... sh command.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$WORK" && cd "$WORK" || exit 1
command=$BUILD/bin/armci-mpirma
unset ARMCI_VERBOSE LD_PRELOAD OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID
. "$here/../says.sh"

run "help" 0 "$command" -h
says out '^usage: armci-mpirma PROGRAM'
silent err
run "no arguments" 2 "$command"
says err '^usage: armci-mpirma PROGRAM'
silent out
run "version" 0 "$command" -version
says out '^armci-mpirma (libarmci) [0-9]'
run "unknown option" 2 "$command" -n 4 true
says err '^armci-mpirma: unknown option -n'
run "missing program" 127 "$command" ./no-such-program
says err '^armci-mpirma: no program ./no-such-program$'
touch here
run "program of this directory" 127 "$command" here
says err '^armci-mpirma: no program here; did you mean ./here?$'
run "exit status" 7 "$command" sh -c 'exit 7'
silent err
run "arguments" 0 "$command" sh -c 'echo "$#:$1:$2"' sh 'a b' ''
says out '^2:a b:$'
# shellcheck disable=SC2016 # for the inner shell
show='echo "$LD_PRELOAD"'
run "preloaded" 0 "$command" sh -c "$show"
says out '^/.*/libarmci-mpirma\.so$'
lib=$(ldconfig -p 2>/dev/null | sed -n 's/.*libm\.so\.6 .*=> //p' | head -n 1)
run "preloaded before" 0 env LD_PRELOAD="${lib:-libm.so.6}" "$command" sh -c "$show"
says out "/libarmci-mpirma\.so:${lib:-libm.so.6}\$"
ln -sf "$command" link
run "through a link" 0 ./link sh -c "$show"
says out '^/.*/libarmci-mpirma\.so$'
for yes in y 1 True ON; do
	run "verbose $yes" 0 env ARMCI_VERBOSE=$yes "$command" true
	says err '^armci-mpirma: one-sided communication of true over /'
done
run "not verbose" 0 env ARMCI_VERBOSE=no "$command" true
silent err
run "verbose rank 1" 0 env ARMCI_VERBOSE=y OMPI_COMM_WORLD_RANK=1 "$command" true
silent err
run "verbose rank 0" 0 env ARMCI_VERBOSE=y PMI_RANK=0 "$command" true
says err '^armci-mpirma: '
# A launcher that the command starts has the library preloaded, too, and passes signals on to the
# job.
if [ -n "${CC_openmpi:-}" ] && [ -n "${RUN_openmpi:-}" ]; then
	printf '%s\n' '#include <mpi.h>' \
		'int main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }' >hello.c
	$CC_openmpi -o hello hello.c || exit 1
	for i in 1 2 3 4 5; do
		# shellcheck disable=SC2086
		run "in front of the launcher, $i" 0 "$command" $RUN_openmpi ./hello
		silent err
		silent out
	done
fi
mkdir -p moved/bin
cp "$command" moved/bin
run "library missing" 1 moved/bin/armci-mpirma true
says err '^armci-mpirma: the library is missing: /.*/libarmci-mpirma.so$'
# Windows that are left to the MPI: one rank says so, once.
cat >shared.c <<-EOF
	#include <mpi.h>
	int main(int argc, char **argv)
	{
		MPI_Win win;
		long *base;
		MPI_Init(&argc, &argv);
		for (int i = 0; i < 2; i++) {
			MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
			MPI_Win_free(&win);
		}
		return MPI_Finalize();
	}
EOF
for flavour in openmpi mpich; do
	eval "cc=\${CC_$flavour-} launch=\${RUN_$flavour-}"
	[ -n "$cc" ] && [ -n "$launch" ] || {
		echo "skip windows left to $flavour: it is not here"
		continue
	}
	$cc -o shared shared.c || exit 1
	# shellcheck disable=SC2016,SC2086 # for the inner shell; words
	run "windows left to $flavour" 0 ${launch% *} 4 \
		sh -c 'ARMCI_NODE=n$((${PMI_RANK-$OMPI_COMM_WORLD_RANK} / 2)) exec "$@"' \
		sh "$command" ./shared
	n=$(cat out err | grep -c "it is the MPI's own")
	[ "$n" -eq 1 ] || fail "$n lines about it, not 1"
done
echo "$failures failures"
[ $failures -eq 0 ]
