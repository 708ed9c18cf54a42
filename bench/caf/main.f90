! SPDX-License-Identifier: BSD-3-Clause
! Measures coarrays between two images, with whatever runtime it is linked with (bench caf):
! caf [-r REPS] [-t MS] [-q] [FIGURES...], where -t is the length of a sample.
! Prints a line for each figure; those after BEGIN are of the figures named there, and END is the
! last line.
program caf
  use task
  use direct
  use measure
  use transfers
  use objects
  use together
  implicit none
  character(20), parameter :: every(*) = &
    [character(20) :: 'put', 'get', 'row', 'block', 'atomic', 'lock', 'event', 'sync', &
    'collective', 'allocate']
  character(20) :: word
  integer :: i, named

  me = this_image()
  other = merge(2, 1, me == 1)
  if (num_images() < 2) error stop 'caf: at least two images'
  call direct_start
  named = 0
  i = 1
  do while (i <= command_argument_count())
    call get_command_argument(i, word)
    select case (word)
    case ('-q')
      quick = .true.
    case ('-r')
      i = i + 1
      call get_command_argument(i, word)
      read (word, *) reps
      if (reps < 1 .or. reps > most_reps) error stop 'caf: -r: 1 to 99'
    case ('-t')
      i = i + 1
      call get_command_argument(i, word)
      read (word, *) sample_ms
      if (sample_ms <= 0) error stop 'caf: -t: milliseconds above 0'
    case default
      named = named + 1
      call figures(word)
    end select
    i = i + 1
  end do
  if (named == 0) then
    do i = 1, size(every)
      call figures(every(i))
    end do
  end if
  sync all
  if (me == 1) print '(a)', 'END'
contains
  subroutine figures(name)
    character(*), intent(in) :: name
    sync all
    if (me == 1) then
      print '(3a)', 'BEGIN', achar(9), trim(name)
      flush (6)
    end if
    select case (name)
    case ('put'); call puts
    case ('get'); call gets
    case ('row'); call rows
    case ('block'); call blocks
    case ('atomic'); call atomics
    case ('lock'); call locks
    case ('event'); call events
    case ('sync'); call synchronisation
    case ('collective'); call collectives
    case ('allocate'); call allocations
    case default; error stop 'caf: no such figure'
    end select
    sync all
  end subroutine
end program
