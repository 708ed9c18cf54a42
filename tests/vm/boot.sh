#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# boot.sh RAW - on the first of two hosts in the virtual machine, with 16 MiB of lockable memory:
# each host has its own device, they reach each other's memory by verbs, all that RAW measures can
# be measured, and the limit holds.
set -u
inside=$(cd "$(dirname "$0")/../hosts" && pwd)/inside.sh
raw=$1
failed=0
say() {
	echo "$*"
	case $1 in FAIL) failed=1 ;; esac
}

[ "$(hostname)" = hosta ] && [ "$("$inside" hostb hostname)" = hostb ] ||
	say FAIL "the hosts have other names"
own=$(ls /dev/infiniband | grep uverbs)
far=$("$inside" hostb ls /dev/infiniband | grep uverbs)
case $own-$far in
uverbs[0-9]-uverbs[0-9]) [ "$own" != "$far" ] || say FAIL "both hosts have the device $own" ;;
*) say FAIL "the hosts have the devices \"$own\" and \"$far\"" ;;
esac

"$inside" hostb "$raw" serve 2 &
"$raw" check hostb || say FAIL "verbs"
figures=$("$raw" quick hostb) || say FAIL "raw quick"
wait $! || say FAIL "the other end of verbs"
echo "$figures"
for operation in write read fetch-add write-chain-64 write-gather-64 write-stream read-stream; do
	for wait in spinning sleeping; do
		echo "$figures" | tr '\t' ' ' |
			grep -q "^PERF $operation $wait [0-9]* 2 [A-Za-z/]* [0-9]" ||
			say FAIL "no figure of $operation, $wait"
	done
done

"$raw" register $((8 << 20)) | grep registered || say FAIL "8 MiB cannot be registered"
"$raw" register $((32 << 20)) | grep refused ||
	say FAIL "32 MiB can be registered in spite of the limit"
exit $failed
