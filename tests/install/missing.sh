# SPDX-License-Identifier: BSD-3-Clause
# missing.sh - what make run and make install do beside CMake: .ci/install-missing with an apt-get
# that only pretends (what is asked for, what is shown meanwhile, that a failure is one), what is
# printed of installed files, and that files beside the build directory stay.
#
#   SOURCE=... WORK=... sh missing.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
rm -rf "$WORK" && mkdir -p "$WORK/bin" && cd "$WORK" || exit 1
. "$here/../says.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: not root: nothing is installed then"; exit 77; }
cat >bin/dpkg-query <<'EOF'
#!/bin/sh
exit 1
EOF
cat >bin/apt-get <<'EOF'
#!/bin/sh
echo "$*" >>asked
case $* in
*update*) exit 0 ;;
esac
[ ! -e broken ] || { echo "E: Unable to locate package"; exit 100; }
echo "Need to get 62.1 MB of archives."
echo "Get:1 http://deb.debian.org/debian bookworm/main amd64 cpp amd64 4:12.2.0-3 [6836 B]"
for i in $(seq 1 100); do
	echo "Unpacking p$i"
	echo "Setting up p$i (1.0) ..."
done
EOF
chmod +x bin/*
run "packages of the build" 0 env PATH="$WORK/bin:$PATH" sh "$SOURCE/.ci/install-missing" build
says asked ' install .* g++ '
says asked ' install .* make '
says out 'Need to get 62.1 MB'
says out 'fetching cpp '
says out 'setting up p81 '
[ "$(wc -l <out)" -le 12 ] || fail "$(wc -l <out) lines"
touch broken
run "packages that cannot be had" 0 env PATH="$WORK/bin:$PATH" sh "$SOURCE/.ci/install-missing" \
	build
says err 'install-missing: could not install: .*g++'
says out '^E: Unable to locate package'

# What a first go build shows meanwhile, and that its errors and status come out.
cat >bin/go <<'EOF'
#!/bin/sh
echo "$*" >>asked
for i in 1 2 3; do
	echo "internal/p$i" >&2
done
echo libarmci/internal/core >&2
[ ! -e broken ] || { echo "core.go:1:2: undefined: x" >&2; exit 3; }
EOF
chmod +x bin/go
run "go that fails" 3 env EVERY=0 sh "$SOURCE/cmake/go_progress.sh" libarmci.so "$WORK/bin/go" \
	build -o x ./capi
says out '^core.go:1:2: undefined: x$'
says asked '^build -v -o x ./capi$'
rm broken
run "go" 0 env EVERY=0 sh "$SOURCE/cmake/go_progress.sh" libarmci.so "$WORK/bin/go" build ./capi
says out '^ *libarmci.so: 4 packages compiled, now internal/core$'

# What make install prints of many files.
mkdir -p tree
{
	echo /opt/x/bin/armcirun
	echo /opt/x/bin/armcicc
	echo /opt/x/lib/libarmci.so.0
	for i in $(seq 1 600); do
		echo "/opt/x/share/man/man3/page$i.3"
	done
	echo /opt/x/share/doc/libarmci/README.md
} >tree/install_manifest.txt
run "installed" 0 sh "$SOURCE/cmake/installed.sh" tree /opt/x
says out '^installed in /opt/x:$'
says out '^  bin  *armcirun armcicc$'
says out '^  share/man  *600 files$'
says out 'now type: .*PATH=/opt/x/bin'
says out '^now try: .*armcirun -n 4'
says out '^then read: /opt/x/share/doc/libarmci/html/index.html'
[ "$(wc -l <out)" -le 15 ] || fail "$(wc -l <out) lines"
run "installed for a package" 0 sh "$SOURCE/cmake/installed.sh" tree /opt/x /staging
says out '^installed in /staging/opt/x:$'

# A build.log beside the directory build is the user's: make writes, moves and removes none.
printf '#!/bin/sh\necho configured\n' >bin/cmake
chmod +x bin/cmake
echo mine >b.log
pretended() { make -C "$SOURCE" BUILD="$WORK/b" CMAKE="$WORK/bin/cmake" GO=go "$1"; }
run configure 0 pretended configure
says b/configure.log '^configured$'
printf '#!/bin/sh\necho wrong; exit 1\n' >bin/cmake
run "a configuration that fails" 2 pretended configure
says out '^wrong$'
run clean 0 pretended clean
[ ! -e b ] || fail "the build directory is left"
says b.log '^mine$'
echo "$failures failures"
[ $failures -eq 0 ]
