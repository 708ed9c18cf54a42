! SPDX-License-Identifier: BSD-3-Clause
!
! fgemm: matrix products, reductions, broadcasts and a group from Fortran, with small whole numbers
! so that every comparison is exact. Holds double precision only.
program fgemm
  use gacheck
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer, parameter :: m = 31, n = 26, k = 40
  double precision :: a(m, k), b(k, n), c(m, n)

  call check_start()
  call fill()
  call product('n', 'n')
  call product('t', 'n')
  call product('n', 't')
  call reductions()
  call grouped()
  call check_finish('fgemm')

contains

  subroutine fill()
    integer :: i, j

    do j = 1, k
      a(:, j) = [(dble(mod(3*i + 2*j, 9) - 4), i=1, m)]
    end do
    do j = 1, n
      b(:, j) = [(dble(mod(i*j, 7) - 3), i=1, k)]
    end do
  end subroutine fill

  ! A distributed copy of x; rank 0 puts it.
  integer function spread_out(x)
    double precision, intent(in) :: x(:, :)
    integer :: handle
    double precision :: copy(size(x, 1), size(x, 2))

    copy = x
    call check(nga_create(mt_dbl, 2, shape(x, kind=8), 'matrix', [-1, -1], handle), 'not created')
    if (ga_nodeid() == 0) call nga_put(handle, [1, 1], shape(x, kind=8), copy, [size(x, 1)])
    call ga_sync()
    spread_out = handle
  end function spread_out

  subroutine product(ta, tb)
    character, intent(in) :: ta, tb
    integer :: ga, gb, gc

    if (ta == 't') then
      ga = spread_out(transpose(a))
    else
      ga = spread_out(a)
    end if
    if (tb == 't') then
      gb = spread_out(transpose(b))
    else
      gb = spread_out(b)
    end if
    c = 1
    gc = spread_out(c)
    call ga_dgemm(ta, tb, m, n, k, 1.0d0, ga, gb, 3.0d0, gc)
    call nga_get(gc, [1, 1], [m, n], c, [m])
    call check(all(c == matmul(a, b) + 3), 'product '//ta//tb)
    call ga_sync()
    call check(ga_destroy(ga) .and. ga_destroy(gb) .and. ga_destroy(gc), 'not destroyed')
  end subroutine product

  subroutine reductions()
    double precision :: x(3000)
    integer :: i

    x = [(dble(ga_nodeid() + 1)*mod(i, 5), i=1, size(x))]
    call ga_dgop(11, x, size(x), '+')
    do i = 1, size(x)
      call check(x(i) == mod(i, 5)*ga_nnodes()*(ga_nnodes() + 1)/2, 'sum over ranks')
    end do
    x = -ga_nodeid()
    call ga_dgop(12, x, size(x), 'absmax')
    call check(all(x == ga_nnodes() - 1), 'largest magnitude')
    x = ga_nodeid()
    call ga_brdcst(13, x, 8*size(x), ga_nnodes() - 1)
    call check(all(x == ga_nnodes() - 1), 'broadcast')
  end subroutine reductions

  ! All ranks but rank 0, if there are others.
  subroutine grouped()
    integer :: group, members, i
    double precision :: x(1)

    members = max(1, ga_nnodes() - 1)
    group = ga_pgroup_create([(i + min(1, ga_nnodes() - 1), i=0, members - 1)], members)
    if (ga_nodeid() > 0 .or. ga_nnodes() == 1) then
      x = 1
      call ga_pgroup_dgop(group, 14, x, 1, '+')
      call check(x(1) == members, 'sum in group')
      call ga_pgroup_sync(group)
    end if
    call ga_sync()
  end subroutine grouped
end program fgemm
