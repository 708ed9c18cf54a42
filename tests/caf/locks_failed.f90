! SPDX-License-Identifier: BSD-3-Clause
! Images that end: images that wait for their locks get them, one of them with a stat if the holder
! has failed; statements on variables of a failed image have a stat. Image 2 fails, image 3 stops.
! On one image there is nothing to do.
program locks_failed
  use iso_fortran_env
  implicit none
  integer, parameter :: unlocked_failed_image = 6002 ! gfortran has no name for it
  type(lock_type) :: held(2)[*], many(100)[*]
  type(event_type) :: ready[*], gone[*]
  integer(atomic_int_kind) :: told[*], others[*]
  ! count: gfortran does not compute an expression of functions for UNTIL_COUNT=.
  integer :: me, n, i, stat, count
  logical :: got

  me = this_image()
  n = num_images()
  if (me == 2 .or. me == 3) then
    lock (held(me - 1)[1])
    do i = 1, merge(100, 0, me == 2)
      lock (many(i)[1 + mod(i, 2)])
    end do
  end if
  sync all
  if (me == 3) stop
  if (me == 2) then
    count = max(1, n - 2)
    event wait (ready, until_count=count)
    fail image
  end if
  if (n > 1) then
    event post (ready[2])
    call left_locks
  end if
  if (me == 1) then
    print '(a)', 'ok locks_failed'
    flush (output_unit)
  end if
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    write (error_unit, '(a,i0,2a)') 'image ', me, ': wrong: ', what
    error stop 1
  end subroutine

  ! Images 1 and 4 on come here.
  subroutine left_locks
    lock (held(1)[1], stat=stat)
    if (stat == unlocked_failed_image) then
      call atomic_add(told[1], 1_atomic_int_kind)
    else
      call check(stat == 0, 'stat of a lock that another had')
    end if
    unlock (held(1)[1])
    if (n > 2) then
      lock (held(2)[1], stat=stat)
      call check(stat == 0, 'stat of the lock of an image that has stopped')
      unlock (held(2)[1])
    end if
    call failed_image
    if (me == 1) then
      count = max(1, n - 3)
      event wait (gone, until_count=count)
      call the_rest
    else
      event post (gone[1])
    end if
  end subroutine

  subroutine failed_image
    if (me == 1 .and. n < 4) event post (gone[1])
    do
      if (image_status(2) == stat_failed_image) exit
    end do
    call atomic_add(others[2], 1_atomic_int_kind, stat)
    call check(stat == stat_failed_image, 'atomic_add at a failed image')
    event post (ready[2], stat=stat)
    call check(stat == stat_failed_image, 'post to a failed image')
    lock (many(1)[2], stat=stat)
    call check(stat == stat_failed_image, 'lock on a failed image')
    critical
      call atomic_add(others[1], 1_atomic_int_kind, stat)
    end critical
    call check(stat == 0, 'critical after a failure')
  end subroutine

  ! Image 1, when the others are done.
  subroutine the_rest
    integer(atomic_int_kind) :: images
    call atomic_ref(images, told)
    call check(images == 1, 'one image is told that the holder has failed')
    do i = 2, 100, 2
      lock (many(i), acquired_lock=got, stat=stat)
      call check(got .and. stat == unlocked_failed_image, 'a lock that a failed image has left')
      lock (many(i), stat=stat)
      call check(stat == stat_locked, 'it is held now')
      unlock (many(i), stat=stat)
      call check(stat == 0, 'and can be unlocked')
      lock (many(i), stat=stat)
      call check(stat == 0, 'its mark is gone')
      unlock (many(i))
    end do
  end subroutine
end program
