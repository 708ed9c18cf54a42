! SPDX-License-Identifier: BSD-3-Clause
! A user's first program with coarrays: each image writes its number to the first one, which checks
! them.
program hello_coarrays
  implicit none
  integer, allocatable :: seen(:)[:]
  integer :: i
  allocate (seen(num_images())[*])
  seen = 0
  sync all
  seen(this_image())[1] = this_image()
  sync all
  if (this_image() == 1) then
    if (any(seen /= [(i, i=1, num_images())])) error stop 'a number is missing'
    print '(a,i0)', 'ok hello of ', num_images()
  end if
end program hello_coarrays
