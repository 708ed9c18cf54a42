! SPDX-License-Identifier: BSD-3-Clause
! ends WAY: ends the job by the statement that WAY names, executed by the last image while others
! wait, or by all. stop.sh looks at exit status, output and time.
program ends
  use, intrinsic :: iso_fortran_env, only: stat_failed_image, stat_stopped_image, event_type
  implicit none
  type(event_type) :: event[*]
  character(len=40) :: way
  integer :: me, n, status
  logical :: last

  call get_command_argument(1, way)
  me = this_image()
  n = num_images()
  last = me == n
  sync all
  ! What the runtime holds must come out.
  if (last) write (*, '(a)', advance='no') 'written and not flushed'
  select case (way)
  case ('end')
  case ('stop')
    stop
  case ('stop_all')
    stop 3
  case ('stop_text')
    if (last) stop 'enough'
  case ('stop_one')
    if (last) stop 3
    sync all (stat=status)
    if (status /= stat_stopped_image) error stop 'sync all does not tell that an image has stopped'
  case ('stop_no_stat')
    if (last) stop
    sync all
    sync all
  case ('stop_quiet')
    stop 4, quiet=.true.
  case ('error_none')
    if (last) error stop
    call wait_for_ever
  case ('error_late') ! all others have stopped
    if (.not. last) stop
    do
      if (size(stopped_images()) == n - 1) error stop 6
    end do
  case ('error')
    if (last) error stop 7
    sync all
    call wait_for_ever
  case ('error_event')
    if (last) error stop 8
    event wait (event)
  case ('error_text')
    if (last) error stop 'it went wrong'
    call wait_for_ever
  case ('error_quiet')
    if (last) error stop 9, quiet=.true.
    call wait_for_ever
  case ('fail')
    if (last) fail image
    call go_on_without_it
  case default
    error stop 'an unknown way'
  end select
contains
  subroutine wait_for_ever
    do
      call sleep(1)
    end do
  end subroutine wait_for_ever

  subroutine go_on_without_it
    do
      sync all (stat=status)
      if (status /= 0) exit
    end do
    if (status /= stat_failed_image) error stop 'sync all does not tell that an image has failed'
    if (image_status(n) /= stat_failed_image) &
      error stop 'image_status does not tell that an image has failed'
    if (any(failed_images() /= [n])) error stop 'failed_images does not tell which'
    if (me == 1) print '(a)', 'goes on without it'
  end subroutine go_on_without_it
end program ends
