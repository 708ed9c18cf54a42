! SPDX-License-Identifier: BSD-3-Clause
!
! fpatches: put, get, accumulate, scatter, gather, nonblocking and ghost cells from Fortran,
! column-major and counted from 1. Holds double precision only: implicit interfaces allow one type
! per name and file.
program fpatches
  use gacheck
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer, parameter :: rows = 45, cols = 33
  double precision :: whole(rows, cols)

  call check_start()
  call put_and_accumulate()
  call scattered()
  call ghosts()
  call check_finish('fpatches')

contains

  pure double precision function value(i, j)
    integer, intent(in) :: i, j
    value = 100*i + j + 0.5d0
  end function value

  ! Columns are put in turn by the ranks, then every rank adds twice the value to an inner patch.
  subroutine put_and_accumulate()
    integer :: a, i, j, lo(2), hi(2), ld(1), handle
    double precision :: times

    ld(1) = rows
    call check(nga_create(mt_dbl, 2, [rows, cols], 'array', [-1, -1], a), 'not created')
    call ga_zero(a)
    do j = 1 + ga_nodeid(), cols, ga_nnodes()
      whole(:, j) = [(value(i, j), i=1, rows)]
      lo = [1, j]
      hi = [rows, j]
      call nga_nbput(a, lo, hi, whole(1, j), ld, handle)
      call nga_nbwait(handle)
    end do
    call ga_sync()
    do j = 1, cols
      whole(:, j) = [(value(i, j), i=1, rows)]
    end do
    lo = [5, 4]
    hi = [rows - 3, cols - 2]
    call nga_acc(a, lo, hi, whole(5, 4), ld, 2.0d0)
    call ga_sync()
    whole = -1
    call nga_get(a, [1, 1], [rows, cols], whole, ld)
    do j = 1, cols
      do i = 1, rows
        times = 1
        if (i >= 5 .and. i <= rows - 3 .and. j >= 4 .and. j <= cols - 2) times = 1 + 2*ga_nnodes()
        call check(whole(i, j) == times*value(i, j), 'element after put and accumulate')
      end do
    end do
    call ga_sync()
    call check(ga_destroy(a), 'not destroyed')
  end subroutine put_and_accumulate

  ! Rank r scatters every n-th cell; all ranks gather all cells.
  subroutine scattered()
    integer :: a, places(2, rows*cols), cell, n
    double precision :: v(rows*cols)

    call check(nga_create(mt_dbl, 2, [rows, cols], 'cells', [-1, -1], a), 'not created')
    call ga_zero(a)
    n = 0
    do cell = ga_nodeid(), rows*cols - 1, ga_nnodes()
      n = n + 1
      places(:, n) = [mod(cell, rows) + 1, cell/rows + 1]
      v(n) = value(places(1, n), places(2, n))
    end do
    call nga_scatter(a, v, places, n)
    call ga_sync()
    do cell = 1, rows*cols
      places(:, cell) = [rows - mod(cell - 1, rows), cols - (cell - 1)/rows]
    end do
    v = -1
    call nga_gather(a, v, places, rows*cols)
    do cell = 1, rows*cols
      call check(v(cell) == value(places(1, cell), places(2, cell)), 'gathered element')
    end do
    call ga_sync()
    call check(ga_destroy(a), 'not destroyed')
  end subroutine scattered

  ! A periodic patch across the array's ends must agree with what was put into the middle.
  subroutine ghosts()
    integer :: a, i, j
    double precision :: patch(6, 5), one

    one = 1
    call check(nga_create_ghosts(mt_dbl, 2, [rows, cols], [1, 2], 'ghosts', [-1, -1], a), &
      'not created')
    call ga_fill(a, one)
    do j = 1, 5
      patch(:, j) = [(value(i, j), i=1, 6)]
    end do
    if (ga_nodeid() == 0) &
      call nga_periodic_put(a, [rows - 2, cols - 1], [rows + 3, cols + 3], patch, [6])
    call ga_sync()
    call ga_update_ghosts(a)
    patch = -1
    call nga_periodic_get(a, [-2, -1], [3, 3], patch, [6])
    do j = 1, 5
      do i = 1, 6
        call check(patch(i, j) == value(i, j), 'element across the ends')
      end do
    end do
    call ga_sync()
    call check(ga_destroy(a), 'not destroyed')
  end subroutine ghosts
end program fpatches
