# SPDX-License-Identifier: BSD-3-Clause
# run.sh - ARMCI_STATS, ARMCI_TRACE=FILE and armci_info -s, -m: what they tell of programs with
# known operations.
#
#   BUILD=... CC_none=... [FC_none=...] [CC_openmpi=... RUN_openmpi="... -n 2", the same of mpich]
#   WORK=... sh run.sh
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
[ -n "$CC_none" ] || { echo "SKIP: no C compiler"; exit 77; }
. "$here/../says.sh"
run=$BUILD/bin/armcirun info=$BUILD/bin/armci_info
unset ARMCI_STATS ARMCI_TRACE ARMCI_FASTPATH ARMCI_VERBOSE
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
link="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -larmci"
# shellcheck disable=SC2086
$CC_none -std=gnu11 -O2 -Wall -Wextra ${WERROR-} -I"$SOURCE/include" \
	-o known "$here/known.c" $link || exit 1
KNOWN=$WORK/known
# shellcheck disable=SC2086
if [ -n "$FC_none" ] &&
	$FC_none -I"$BUILD/fortran" -o fortran "$SOURCE/examples/fortran/put.f90" $link; then
	FORTRAN=$WORK/fortran
fi
softverbs=$BUILD/tests/softverbs

# row OPERATION SIZE CALLS BYTES SHARE: a line of the table of operations, with a share of the run.
row() { says err "^  $1  *$2  *$3  *$4  .*s  *[0-9.]* %  .*s  *$5 %\$"; }

# counts RANKS FAST: what known.c does; FAST is the share of the fast path in puts.
counts() {
	row put 'up to 64 B' $((20 * $1)) "$((160 * $1)) B" "$2"
	row put 'up to 4 KiB' $((10 * $1)) "[0-9.]* KiB" "$2"
	row get 'up to 64 B' $((10 * $1)) "$((80 * $1)) B" "$2"
	row acc 'up to 64 B' $((10 * $1)) "$((80 * $1)) B" "$2"
	row 'put strided' 'up to 256 B' $((10 * $1)) '[0-9.]* KiB' "$2"
	row 'get strided' 'up to 256 B' $((10 * $1)) '[0-9.]* KiB' "$2"
	row 'put vector' 'up to 64 B' $((10 * $1)) '[0-9.]* K*i*B' "$2"
	row nbput 'up to 64 B' $((10 * $1)) '[0-9.]* K*i*B' "$2"
	for op in wait fence lock unlock barrier; do
		row $op 'no data' $((10 * $1)) '0 B' '[0-9.]*'
	done
	row rmw 'up to 64 B' $((10 * $1)) "$((80 * $1)) B" "$2"
	row reduction 'up to 64 B' $((10 * $1)) "$((40 * $1)) B" '[0-9.]*'
	row allocate 'up to 4 KiB' $((11 * $1)) '[0-9.]* KiB' '0.0'
	row free 'no data' $((11 * $1)) '0 B' '0.0'
	row group 'no data' "$1" '0 B' '0.0'
	row 'procedure call' 'no data' "$1" '0 B' '0.0'
	says err "^  all  *$((184 * $1)) .*s  *[1-9][0-9.]* %  .*s  *[0-9.]* %\$"
}

# A trace has a beginning and an end of each call, of every rank.
traced() {
	[ "$(grep -c '"ph":"B"' "$1")" -eq "$2" ] && [ "$(grep -c '"ph":"E"' "$1")" -eq "$2" ] ||
		fail "$1 has not $2 beginnings and ends"
	if command -v python3 >/dev/null; then
		python3 "$here/trace.py" "$1" || fail "$1 cannot be read"
	fi
}

# untraced PATTERN: one line says why.
untraced() {
	says err "ARMCI_TRACE: nothing is traced: $1"
	[ "$(wc -l <err)" -eq 1 ] || fail "more than that line"
}

run off 0 "$run" -n 2 "$KNOWN"
silent err
run node 0 env ARMCI_STATS=1 ARMCI_TRACE=node.json "$run" -n 2 "$KNOWN"
counts 2 100.0
says err '^within nodes 17.7 KiB in 262 calls, between nodes 0 B in 0 calls$'
traced node.json 368
[ ! -e node.json.0 ] || fail "the files of ranks are left"
run nodes 0 env ARMCI_STATS=1 ARMCI_TRACE=nodes.json "$run" -n 4 -nodes 2 "$KNOWN"
counts 4 50.0
says err '^  node 0  *8.8 KiB  *8.8 KiB$'
says err '^  3  *184  *0 B  *8.8 KiB '
traced nodes.json 736
run slow 0 env ARMCI_STATS=1 ARMCI_FASTPATH=n "$run" -n 2 "$KNOWN"
counts 2 0.0
run many 0 env ARMCI_STATS=1 "$run" -n 17 "$KNOWN"
says err '^  calls  *184 (0)  *184  *184 (0)$'
if [ -x "$softverbs/softverbs-sysfs" ]; then
	run verbs 0 env ARMCI_STATS=1 ARMCI_TRANSPORT=rdma sh "$here/../softverbs/with.sh" \
		"$softverbs" "$run" -n 2 -nodes 2 "$KNOWN"
	counts 2 '[0-9.]*'
	says err '^registration cache: hits: '
fi
if [ -n "$FORTRAN" ]; then
	run fortran 0 env ARMCI_STATS=1 "$run" -n 2 "$FORTRAN"
	says err '^  put  '
fi
run limit 0 env ARMCI_TRACE=limit.json ARMCI_TRACE_LIMIT=68k "$run" -n 2 "$KNOWN"
says err 'calls were left out beyond ARMCI_TRACE_LIMIT'
run unwritable 0 env ARMCI_TRACE=/nowhere/t "$run" -n 2 "$KNOWN"
untraced 'open /nowhere/t.0: no such file or directory (this rank, and 1 more)$'
mkfifo fifo fifo2.1
ln -s victim link
ln -s victim link2.0
touch victim
run fifo 0 timeout 20 env ARMCI_TRACE=fifo "$run" -n 2 "$KNOWN"
untraced 'open fifo: is not a regular file$'
run "fifo of a rank" 0 timeout 20 env ARMCI_TRACE=fifo2 "$run" -n 2 -nodes 2 "$KNOWN"
untraced 'open fifo2.1: is not a regular file$'
[ ! -e fifo2.0 ] || fail "the file of the other rank is left"
run link 0 env ARMCI_TRACE=link "$run" -n 2 "$KNOWN"
untraced 'open link: is a symbolic link'
run "link of a rank" 0 env ARMCI_TRACE=link2 "$run" -n 2 "$KNOWN"
untraced 'open link2.0: is a symbolic link'
[ ! -s victim ] || fail "the trace was written through a link"
run "odd name of a node" 0 env ARMCI_TRACE=odd.json ARMCI_NODE="$(printf 'a"\\\377')" "$run" \
	-n 2 "$KNOWN"
traced odd.json 368
run line 0 env ARMCI_TRACE=y "$run" -n 2 "$KNOWN"
says err 'ARMCI_Put: 8 bytes'
run abort 3 env ARMCI_STATS=1 "$run" -n 2 "$KNOWN" abort
says err 'statistics of rank 1 alone, since the job is aborted$'

# A job that runs is looked at, and killed: its trace opens all the same.
case=running
ARMCI_STATS=1 ARMCI_TRACE=killed.json "$run" -n 2 "$KNOWN" forever >job.out 2>&1 &
job=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.3
	"$info" -s >out 2>err &&
		grep -q "^rank 1 of 2, .* ($(basename "$KNOWN" | cut -c1-15))" out && break
done
says out "^rank 0 of 2, node 0 of 1, process [0-9]* "
says out '^  put  *up to 64 B  *[1-9][0-9]* '
pid=$(sed -n "s/^rank 1 of 2, .*process \([0-9]*\) ($(basename "$KNOWN" | cut -c1-15)).*/\1/p" out |
	head -1)
kill -9 "${pid:-$job}"
wait $job
run merge 0 "$info" -m killed.json
[ "$(tail -c 2 killed.json)" = "]" ] || fail "the merged trace has no end"
if command -v python3 >/dev/null; then
	pids='{e["pid"] for e in json.load(open("killed.json"))}'
	python3 -c "import json; assert $pids == {0, 1}" || fail "not the events of both ranks"
fi
run nobody 1 "$info" -s 1999999999
says err 'process 1999999999 does not run'
. "$here/windows.sh"
[ $failures -eq 0 ] || exit 1
echo "ok stats"
