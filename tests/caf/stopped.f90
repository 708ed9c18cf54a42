! SPDX-License-Identifier: BSD-3-Clause
! Images that stop: stat of what others do afterwards, or are doing, and in teams. Needs three
! images or more.
program stopped
  use iso_fortran_env
  implicit none
  type(team_type) :: pairs
  integer :: me, n, s, x[*], k, i
  character(80) :: msg
  me = this_image(); n = num_images()
  x = me
  form team ((me + 1) / 2, pairs)
  sync all
  if (me == 2) then
    call sleep_a_bit(0.3)
    stop
  end if
  ! Image 1 is in the call when image 2 stops; the others as well
  sync all (stat=s, errmsg=msg)
  if (s /= stat_stopped_image) error stop 'sync all in which an image stops'
  if (index(msg, 'stopped') == 0) error stop 'message of sync all'
  sync all (stat=s)
  if (s /= stat_stopped_image) error stop 'sync all after an image has stopped'
  do while (image_status(2) /= stat_stopped_image)
  end do
  if (image_status(me) /= 0) error stop 'own status'
  if (size(failed_images()) /= 0) error stop 'failed_images'
  if (any(stopped_images() /= [2])) error stop 'stopped_images'
  k = me
  call co_sum(k, stat=s)
  if (s /= stat_stopped_image) error stop 'co_sum'
  call co_broadcast(k, 1, stat=s)
  if (s /= stat_stopped_image) error stop 'co_broadcast'
  sync images (*, stat=s)
  if (s /= stat_stopped_image) error stop 'sync images(*)'
  sync images (2, stat=s)
  if (s /= stat_stopped_image) error stop 'sync images(2)'
  ! Memory of the image can still be used
  if (me == 1) then
    if (x[2] /= 2) error stop 'memory of a stopped image'
    x[2] = 5
    if (x[2] /= 5) error stop 'writing memory of a stopped image'
  end if
  ! Teams without it work as before
  if (me > 2) then
    change team (pairs)
      k = 1
      call co_sum(k)
      if (k /= num_images()) error stop 'co_sum in another team'
      sync all
    end team
  end if
  do i = 1, n
    if (i /= 2 .and. i /= me) then
      sync images (i, stat=s)
      if (s /= 0) error stop 'sync images of those that run'
    end if
  end do
  sync images ([(i, i = 3, n), 1], stat=s)
  if (s /= 0) error stop 'sync images of all that run'
  if (me == 1) print '(a)', 'ok stopped'
  if (me == 1) flush (output_unit)
contains
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
