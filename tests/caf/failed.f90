! SPDX-License-Identifier: BSD-3-Clause
! Images that fail: the others go on together. Needs four images or more.
program failed
  use iso_fortran_env
  implicit none
  integer :: me, n, s, x[*], k, i
  integer, allocatable :: c(:)[:], older(:)[:]
  me = this_image(); n = num_images()
  x = 0
  allocate (older(5)[*])
  sync all
  if (me == 2) then
    call sleep_a_bit(0.2)
    fail image
  end if
  sync all (stat=s)
  if (s /= stat_failed_image) error stop 'sync all in which an image fails'
  do i = 1, 100
    x[merge(1, 3, me == n)] = i
    sync all (stat=s)
    if (s /= stat_failed_image) error stop 'sync all after an image has failed'
    if (me == 1 .and. x /= i) error stop 'sync all does not synchronize'
    sync all (stat=s)
  end do
  if (image_status(2) /= stat_failed_image) error stop 'image_status'
  if (any(failed_images() /= [2]) .or. size(failed_images()) /= 1) error stop 'failed_images'
  if (size(stopped_images()) /= 0) error stop 'stopped_images'
  k = me
  call co_max(k, stat=s)
  if (s /= stat_failed_image) error stop 'co_max'
  call co_reduce(k, larger, stat=s)
  if (s /= stat_failed_image) error stop 'co_reduce'
  sync images (*, stat=s)
  if (s /= stat_failed_image) error stop 'sync images'
  allocate (c(2)[*], stat=s)
  if (s /= 0) error stop 'allocate' ! gfortran does not allow for stat_failed_image
  c = me
  sync all (stat=s)
  if (c(1)[1] /= 1 .or. c(2)[n] /= n) error stop 'memory after a failure'
  deallocate (c, stat=s)
  if (s /= stat_failed_image) error stop 'deallocate'
  deallocate (older, stat=s) ! the failed image has a part of it
  if (s /= stat_failed_image) error stop 'deallocate what was allocated before'
  ! A second image fails
  if (me == 3) fail image
  sync all (stat=s)
  if (s /= stat_failed_image) error stop 'sync all after a second failure'
  if (any(failed_images() /= [2, 3])) error stop 'failed_images after a second failure'
  sync all (stat=s)
  if (s /= stat_failed_image) error stop 'sync all'
  if (me == 1) then
    x[n] = 17
    x[1] = 17
  end if
  sync all (stat=s)
  if ((me == n .or. me == 1) .and. x /= 17) error stop 'sync all of the rest'
  if (me == 1) print '(a)', 'ok failed'
  if (me == 1) flush (output_unit)
contains
  pure integer function larger(a, b)
    integer, intent(in) :: a, b
    larger = max(a, b)
  end function
  subroutine sleep_a_bit(seconds)
    real, intent(in) :: seconds
    integer(8) :: from, now, rate
    call system_clock(from, rate)
    do
      call system_clock(now)
      if (now - from > seconds * rate) exit
    end do
  end subroutine
end program
