! SPDX-License-Identifier: BSD-3-Clause
!
! gacheck: what the Fortran Global Arrays programs share: start, a counting check and a verdict that
! is the same on all ranks. Compiled with 8-byte default integers, as Global Arrays' own Fortran
! interface is; must therefore hand 4-byte integers to MPI.
module gacheck
  implicit none
  private
  public :: check_start, check, check_finish
  integer, parameter :: mpi_int = selected_int_kind(9)
  integer(mpi_int) :: failures = 0
  logical :: with_tcgmsg = .false.

contains

  ! Starts MPI, or TCGMSG which starts MPI and ARMCI itself, then Global Arrays.
  subroutine check_start(tcgmsg)
    logical, intent(in), optional :: tcgmsg
#include "mafdecls.fh"
    integer(mpi_int) :: code
    external :: mpi_init, pbeginf, ga_initialize

    if (present(tcgmsg)) with_tcgmsg = tcgmsg
    if (with_tcgmsg) then
      call pbeginf()
    else
      call mpi_init(code)
    end if
    call ga_initialize()
    if (.not. ma_init(mt_dbl, 500000, 500000)) call ga_error('ma_init failed', 1)
  end subroutine check_start

  ! Counts a failure of this rank and prints the first ten.
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
#include "global.fh"

    if (good) return
    failures = failures + 1_mpi_int
    if (failures <= 10) print '(a,i0,2a)', '[', ga_nodeid(), '] ', what
  end subroutine check

  ! Ends Global Arrays and MPI; stops with 1 when any rank saw a failure.
  subroutine check_finish(name)
    character(len=*), intent(in) :: name
#include "global.fh"
    integer :: total(1), me, ranks
    integer(mpi_int) :: code
    external :: mpi_finalize, pend

    me = ga_nodeid()
    ranks = ga_nnodes()
    total(1) = failures
    call ga_igop(77, total, 1, '+')
    if (me == 0 .and. total(1) == 0) print '(3a,i0,a)', 'ok ga/', name, ' on ', ranks, ' ranks'
    if (me == 0 .and. total(1) /= 0) &
      print '(3a,i0,a)', 'FAIL ga/', name, ': ', total(1), ' failed checks'
    call ga_terminate()
    if (with_tcgmsg) then
      call pend()
    else
      call mpi_finalize(code)
    end if
    if (total(1) /= 0) stop 1
  end subroutine check_finish
end module gacheck
