# SPDX-License-Identifier: BSD-3-Clause
# hosts.sh - hosts of network namespaces for the scripts of this directory, by those of tests/hosts.
# Sourced, never run. Needs here, the directory of the script that sources it.

hosts=$here/../tests/hosts
. "$hosts/launch.sh"
prefix=armcip # not that of the tests

trap '"$hosts/hosts.sh" down $prefix >/dev/null 2>&1' EXIT
trap 'exit 1' HUP INT TERM

# with_hosts N BENCH [COMMAND] OPTION...: N hosts are there while bench runs on the first of them.
# 77: there cannot be any here.
with_hosts() {
	n=$1
	shift
	"$hosts/hosts.sh" down $prefix
	"$hosts/hosts.sh" up $prefix "$n" || return
	"$hosts/inside.sh" ${prefix}a "$@" -hosts "$(hosts_list "$n")" -agent "$hosts/agent.sh"
}
