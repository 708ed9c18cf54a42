# The C and Fortran programs and the examples: compiled for every MPI flavour here, run on the matrix
# flavour x ranks x fast path. The slow path is run under armcirun only: it does not depend on the launcher.
# Programs are listed in programs.txt beside them; a program without a line there is an error.
# SPDX-License-Identifier: BSD-3-Clause
