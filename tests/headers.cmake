# The public headers compiled alone in every promised language standard, with and without an MPI
# beside them.
# SPDX-License-Identifier: BSD-3-Clause

add_test(NAME headers COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/headers/run.sh)
set_tests_properties(headers PROPERTIES LABELS headers TIMEOUT 300 COST 1000 SKIP_RETURN_CODE 77
  ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};FC=${CMAKE_Fortran_COMPILER}")
