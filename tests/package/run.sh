#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - what a user of the Debian packages gets: builds them from the release tarball, where
# nothing can be fetched; lets lintian look at them; installs them into a fresh Debian, beside
# libarmci-mpi-dev; and runs debian/tests there, which also do what the installed guides say
# (guides.py). That Debian is made by mmdebstrap meanwhile, from where this machine's apt has its
# packages. It mounts in a namespace of its own only, so that nothing stays mounted, and must not
# install anything on this machine.
#
#   SOURCE=... WORK=... GO=go sh run.sh
set -u
skip() { echo "SKIP: $1"; exit 77; }
fail() {
	echo "FAIL $1"
	[ ! -s "${2:-}" ] || tail -n "${3:-25}" "$2" | sed 's/^/    | /'
	exit 1
}
[ "$(id -u)" = 0 ] || skip "only root can make a system to install into"
for tool in mmdebstrap dpkg-buildpackage dh lintian unshare git; do
	command -v "$tool" >/dev/null 2>&1 || skip "no $tool"
done
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
system=$WORK/system
rm -rf "$WORK"
mkdir -p "$WORK/build" || exit 1
apt-get indextargets --format '$(CREATED_BY)|$(ORIGIN)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
	2>/dev/null |
	sed -n 's/^Packages|Debian|//p' | sort -u >"$WORK/sources.list"
[ -s "$WORK/sources.list" ] || skip "apt knows no Debian packages"
GO=$GO sh "$SOURCE/packaging/dist.sh" "$WORK" >"$WORK/dist.log" 2>&1 ||
	skip "no tarball: $(tail -n 1 "$WORK/dist.log")"
tarball=$(tail -n 1 "$WORK/dist.log")

# make_system: the compilers and MPIs that debian/tests want, without what only people read. Killed,
# it takes all that it started along.
make_system() {
	fast=""
	! command -v eatmydata >/dev/null 2>&1 || fast=eatmydata
	compilers=gcc,g++,libc6-dev,gfortran,pkg-config
	mpis=libopenmpi-dev,openmpi-bin,libmpich-dev,mpich,libarmci-mpi-dev
	exec unshare --mount --pid --fork --kill-child --mount-proc $fast mmdebstrap --mode=root \
		--variant=apt --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--include=$compilers,$mpis,python3-numpy \
		"$suite" "$system" "$WORK/sources.list" >"$WORK/system.log" 2>&1
}

# inside COMMAND...: in the system, with /proc, /dev and memory to share; ends with all that it
# started.
inside() {
	unshare --mount --pid --fork --kill-child sh -c '
		mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
		mount -t tmpfs tmpfs "$0/tmp" && exec chroot "$0" "$@"' \
		"$system" env HOME=/root LC_ALL=C "$@"
}

# judged: waits for lintian, which works beside the installation.
judged() {
	wait "$judge" || fail "lintian" "$WORK/lintian.log"
	echo "ok lintian"
}

make_system &
maker=$!
trap 'exit 1' INT TERM
trap 'kill -KILL "$maker" 2>/dev/null; kill ${judge:-} 2>/dev/null; wait
	rm -rf "$system" "$WORK/build"' EXIT

tar -C "$WORK/build" -xf "$tarball" || fail "tar"
tree=$(echo "$WORK"/build/libarmci-*)
(cd "$tree" && env -u CFLAGS -u LDFLAGS PATH="$PATH:$(dirname "$GO")" \
	GOCACHE="$("$GO" env GOCACHE)" GOMODCACHE="$WORK/nothing" \
	DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=2 terse" dpkg-buildpackage -us -uc -d) \
	>"$WORK/build.log" 2>&1 ||
	fail "dpkg-buildpackage" "$WORK/build.log"
echo "ok built from $(basename "$tarball") without a network"

lintian --fail-on error,warning --allow-root "$WORK"/build/*.changes >"$WORK/lintian.log" 2>&1 &
judge=$!
wait "$maker" || { judged; skip "no system to install into: $(tail -n 1 "$WORK/system.log")"; }
rm -f "$system"/etc/dpkg/dpkg.cfg.d/99mmdebstrap
mkdir -p "$system/packages" "$system/source/tests"
cp "$WORK"/build/*.deb "$system/packages" && cp -r "$tree/debian" "$system/source" &&
	cp -r "$tree/tests/install" "$tree/tests/package" "$system/source/tests" ||
	fail "copy"
inside sh -c 'apt-get install -y -qq --no-install-recommends /packages/*.deb' >"$WORK/install.log" \
	2>&1 ||
	fail "the packages cannot be installed" "$WORK/install.log"
echo "ok installed beside libarmci-mpi-dev"

for test in $(sed -n 's/^Tests: //p' "$tree/debian/tests/control"); do
	inside sh -c 'cd /source && "debian/tests/$0"' "$test" >"$WORK/$test.log" 2>&1 ||
		fail "debian/tests/$test" "$WORK/$test.log"
	echo "ok debian/tests/$test"
done
for page in man1/armcirun.1 man1/armcicc.1 man3/ARMCI_PutS.3 man7/armci.7; do
	[ -s "$system/usr/share/man/$page.gz" ] || fail "no manual page $page"
done
judged
inside sh -c 'apt-get purge -y -qq libarmci0 libarmci-doc' >"$WORK/purge.log" 2>&1 ||
	fail "the packages cannot be removed" "$WORK/purge.log"
left=$(cd "$system" && find usr etc var/lib -xdev \( -name '*libarmci.so*' \
	-o -name '*libarmci-mpirma*' -o -path '*include/libarmci*' -o -name 'armcirun*' \) -print)
[ -z "$left" ] || fail "removed packages leave: $left"
echo "ok removed, and nothing is left"
