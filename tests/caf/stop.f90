! SPDX-License-Identifier: BSD-3-Clause
! How programs end; the argument says how. What is printed and the exit status are checked by who runs it.
program stop_
  use iso_fortran_env
  implicit none
  character(20) :: how
  integer :: me, n, s, x[*]
  me = this_image(); n = num_images()
  call get_command_argument(1, how)
  x = me
  print '(a)', 'before'
  sync all
  select case (how)
  case ('end')             ! status 0
  case ('stop')            ! status 0, nothing printed
    stop
  case ('number')          ! STOP 3, status 3
    stop 3
  case ('string')          ! STOP done, status 0
    stop 'done'
  case ('quiet')           ! status 4, nothing printed
    stop 4, quiet=.true.
  case ('error')           ! ERROR STOP, status 1
    error stop
  case ('error_number')    ! ERROR STOP 5 by the last image; the others wait for it; status 5
    if (me == n) error stop 5
    call forever
  case ('error_string')    ! ERROR STOP wrong, status 1
    if (me == n) error stop 'wrong'
    call forever
  case ('error_quiet')     ! status 6, nothing printed
    if (me == n) error stop 6, quiet=.true.
    sync all
  case ('error_stopped')   ! ERROR STOP 7 by image 1, when all others have stopped; status 7
    if (me > 1) stop
    do while (size(stopped_images()) < n - 1)
    end do
    error stop 7
  case ('early')           ! the others go on without the image that has stopped; status 0
    if (me == n) stop
    do
      sync all (stat=s)
      if (s == stat_stopped_image .or. n == 1) exit
    end do
  case ('fail')            ! the others go on; status 0
    if (me == n .and. n > 1) fail image
    sync all (stat=s)
    if (me == 1 .and. n > 1 .and. s /= stat_failed_image) error stop 'stat'
  case ('missing_stat')    ! an error of SYNC ALL: an image of the team has stopped
    if (me == n .and. n > 1) stop
    if (n == 1) error stop
    sync all
    sync all
  case default
    error stop 'unknown argument'
  end select
contains
  subroutine forever
    integer :: i
    do i = 1, 1000000000
      if (x[1] < 0) exit
    end do
    do
      sync images (me)
    end do
  end subroutine
end program
