# The release tarball and the Debian packages, in a system of their own: minutes, and root. What the
# other recipes in packaging/ say is held by tests/policy.
# SPDX-License-Identifier: BSD-3-Clause

armci_suite(package SCRIPT ${CMAKE_CURRENT_SOURCE_DIR}/package/run.sh LABEL package
  TIMEOUT 900 COMPILES)
