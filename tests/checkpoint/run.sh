# SPDX-License-Identifier: BSD-3-Clause
# run.sh - checkpoints from one job to the next: with the same and other numbers of ranks, on one
# node and on two, after ranks were killed while they saved, and with damaged files.
#
#   BUILD=... CC_none=... WORK=... sh run.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
[ -n "${CC_none:-}" ] || { echo "SKIP: no C compiler"; exit 77; }
. "$here/../says.sh"
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK" || exit 1
# shellcheck disable=SC2086 # words
$CC_none -std=gnu11 -O2 -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -I"$SOURCE/tests/c" \
	-o restart "$here/restart.c" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -larmci -lm || exit 1
export ARMCI_ERRORS=return

# job RANKS NODES ARGUMENT...: restart with these.
job() {
	ranks=$1 nodes=$2
	shift 2
	timeout 100 "$BUILD/bin/armcirun" -n "$ranks" -nodes "$nodes" ./restart "$@"
}

# last WORD FILE: the number behind the last such word, 0 without one.
last() { sed -n "s/^$1 \\([0-9]*\\)\$/\\1/p" "$2" | tail -1 | grep . || echo 0; }

# Each job goes on from where the one before was, however many ranks either has.
step=0
for shape in '4 1' '4 1' '4 2' '2 1' '3 3' '1 1' '6 2' '4 2'; do
	# shellcheck disable=SC2086
	run "$shape, from step $step" 0 job $shape "$WORK/steps" 2
	[ "$step" -eq 0 ] || says out "^restored $step\$"
	step=$((step + 2))
	says out "^saved $step\$"
done

# A damaged byte in the newest file of one rank: it is named, and all have the step before.
newest=$(ls -t "$WORK"/steps.2.? | head -1)
flip() { printf '\377' | dd of="$1" bs=1 seek=20000 conv=notrunc 2>/dev/null; }
flip "$newest"
run "a damaged file" 0 job 4 2 "$WORK/steps" 0
says err "$newest: bytes [0-9]*\\.\\.[0-9]* (range 1, "
says out "^restored $((step - 1))\$"
# With another number of ranks, too.
run "a damaged file, other ranks" 0 job 3 1 "$WORK/steps" 0
says err "$newest: bytes [0-9]*\\.\\.[0-9]* (range 1, "
says out "^restored $((step - 1))\$"
# In both files: the job ends.
for f in "$WORK"/steps.2.?; do
	flip "$f"
done
run "two damaged files" 6 job 4 1 "$WORK/steps" 0
says err "ARMCI_Ckpt_Recover: .*there is no checkpoint that 4 ranks can restore"

# Ranks are killed while they save. Nothing that was saved is lost: the next job, of another number
# of ranks, has at least the step that the first rank has printed, the same on all ranks.
ranks=4
saved=0
for i in 1 2 3 4 5 6 7 8; do
	job $ranks $((1 + i % 2)) "$WORK/killed" 100000 $((i % ranks)) $((i * 37)) >out 2>err
	[ $? -ne 0 ] || fail "the job was not killed"
	now=$(last saved out)
	[ "$now" -ge "$saved" ] && saved=$now
	ranks=$((i % 4 + 2))
	run "after kill $i" 0 job $ranks 1 "$WORK/killed" 1
	restored=$(last restored out)
	[ "$restored" -ge "$saved" ] && [ "$restored" -le $((saved + 1)) ] ||
		fail "step $restored was restored, $saved had been saved"
	saved=$(last saved out)
done
[ "$saved" -gt 16 ] || fail "the jobs were killed before they saved anything"
rm -f "$WORK"/steps.* "$WORK"/killed.*
[ $failures -eq 0 ] || exit 1
echo "ok checkpoint"
