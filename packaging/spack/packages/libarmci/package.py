# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe: spack repo add packaging/spack && spack install libarmci

The tarball is made by `make dist`, in build/ of this checkout; it may also be in a mirror.
"""

import os

from spack.package import *

try:  # where Spack 1.0 and later have it
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass


class Libarmci(CMakePackage):
    """One-sided communication between processes (ARMCI), within a node and between nodes, with or
    without an MPI.
    """

    url = "file://" + os.path.realpath(
        os.path.join(os.path.dirname(__file__), *[".."] * 4, "build", "libarmci-0.1.0.tar.gz")
    )
    maintainers("libarmci")
    license("BSD-3-Clause")

    # No checksum: the tarball is the user's own, made by `make dist`
    # (spack install --no-checksum libarmci).
    version("0.1.0")

    variant(
        "mpiabi", default=True, description="the libraries with the interface of ARMCI-MPI, too"
    )

    provides("armci")

    depends_on("c", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("go@1.26:", type="build")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    def setup_build_environment(self, env):
        # The modules are in the tarball.
        env.set("GOPROXY", "off")
        env.set("GOTOOLCHAIN", "local")
        env.set("GOFLAGS", "-mod=vendor")

    def cmake_args(self):
        return [
            self.define("ARMCI_GO", self.spec["go"].prefix.bin.go),
            self.define("ARMCI_BUILD_TESTS", False),
            # They would be linked with libraries that are no dependencies.
            self.define("ARMCI_ACCEPT_BASELINES", False),
            self.define_from_variant("ARMCI_MPI_ABI", "mpiabi"),
        ]

    def setup_run_environment(self, env):
        # The Python package is found by any Python; NumPy is the user's.
        env.prepend_path("PYTHONPATH", self.prefix.share.libarmci.python)

    @property
    def headers(self):
        # Not those in armci-mpi/, which have another interface.
        return find_headers("armci", root=self.prefix.include, recursive=False)

    @property
    def libs(self):
        for directory in (self.prefix.lib, self.prefix.lib64):
            found = find_libraries("libarmci", root=directory, shared=True, recursive=False)
            if found:
                return found
        return None
