! SPDX-License-Identifier: BSD-3-Clause
! What is measured: a task, which does something a number of times, and what all tasks know.
module task
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
  integer, parameter :: side = 256          ! of the square array that rows and blocks are parts of
  integer, parameter :: edge = 64           ! of a block
  integer, parameter :: most = 131072       ! elements of the largest transfer
  integer :: me, other                      ! images
  integer :: elements = 1                   ! of 8 bytes that a task moves

  abstract interface
    subroutine body(turns)
      integer, intent(in) :: turns
    end subroutine
  end interface
end module
