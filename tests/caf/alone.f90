! SPDX-License-Identifier: BSD-3-Clause
! Components of a coarray that one image alone allocates by assigning to them.
program alone
  implicit none
  type node
    integer, allocatable :: v(:)
    integer, allocatable :: s
  end type
  type(node) :: sn[*]
  type(node), allocatable :: nd(:)[:]
  integer :: i
  allocate(nd(2)[*])
  if (this_image() == 1) then
    sn%v = [1,2,3]
    nd(2)%v = [4,5]
    nd(2)%v = [4,5,6,7]
    sn%s = 7
  end if
  sync all
  if (this_image() == num_images()) then
    i = sn[1]%v(2) + nd(2)[1]%v(4) + sn[1]%s
    if (i /= 16) error stop 1
  end if
  sync all
  if (this_image() == 1) print '(a)', 'ok alone'
end program
