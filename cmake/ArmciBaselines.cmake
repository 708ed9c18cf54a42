# What the raw baselines of a network are compiled of, for bench and armci_accept: for verbs and ofi
# armci_NETWORK_sources, armci_NETWORK_flags and armci_NETWORK_library; no sources where the header
# or the library is missing.
# SPDX-License-Identifier: BSD-3-Clause

set(baselines ${PROJECT_SOURCE_DIR}/bench)
find_path(ARMCI_VERBS_INCLUDE infiniband/verbs.h
  DOC "header of libibverbs, for raw baselines and tests only")
find_library(ARMCI_VERBS_LIBRARY ibverbs DOC "libibverbs, for raw baselines and tests only")
set(armci_verbs_sources "")
set(armci_verbs_flags "")
set(armci_verbs_library "")
if(ARMCI_VERBS_INCLUDE AND ARMCI_VERBS_LIBRARY)
  file(GLOB armci_verbs_sources CONFIGURE_DEPENDS ${baselines}/rdma/*.c ${baselines}/verbs/*.c)
  set(armci_verbs_flags -DPERF_VERBS -I${baselines}/verbs -I${baselines}/rdma
    -I${ARMCI_VERBS_INCLUDE})
  set(armci_verbs_library ${ARMCI_VERBS_LIBRARY})
endif()

find_path(ARMCI_FABRIC_INCLUDE rdma/fabric.h
  DOC "header of libfabric, for raw baselines and tests only")
find_library(ARMCI_FABRIC_LIBRARY fabric DOC "libfabric, for raw baselines and tests only")
set(armci_ofi_sources "")
if(ARMCI_FABRIC_INCLUDE AND ARMCI_FABRIC_LIBRARY)
  file(GLOB armci_ofi_sources CONFIGURE_DEPENDS ${baselines}/ofi/*.c ${baselines}/fabric/*.c)
  set(armci_ofi_flags -DPERF_OFI -I${baselines}/fabric -I${ARMCI_FABRIC_INCLUDE})
  set(armci_ofi_library ${ARMCI_FABRIC_LIBRARY})
endif()
