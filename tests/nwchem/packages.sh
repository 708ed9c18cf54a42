#!/bin/sh
# Installs what building and running the subset needs: packages.sh
#
# Exit 0 when everything is there, 77 (skip, with the reason) when something is missing and we are
# not root. Must not install anything that is already there, nor recommended packages.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
missing=
for package in gfortran make perl pkg-config dpkg-dev libopenmpi-dev openmpi-bin \
	libglobalarrays-dev libarmci-mpi-dev libscalapack-openmpi-dev liblapack-dev libblas-dev; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
		missing="$missing $package"
done
if [ -z "$missing" ]; then
	exit 0
fi
if [ "$(id -u)" != 0 ]; then
	echo "nwchem: skipped: not root, and these packages are missing:$missing"
	exit 77
fi
echo "nwchem: installing$missing"
apt-get -q -o DPkg::Lock::Timeout=300 update >/dev/null
# shellcheck disable=SC2086 # a list of names
DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
	-o DPkg::Lock::Timeout=300 install $missing >/dev/null
