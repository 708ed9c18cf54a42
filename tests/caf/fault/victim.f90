! SPDX-License-Identifier: BSD-3-Clause
! victim DIRECTORY WAY IMAGE: all images wait, in the way named, for one that never comes, or is
! killed meanwhile: a script does that. Each writes the number of its process to DIRECTORY/RANK
! first. The job must end without the waiting images: STAT= does not help against a death.
program victim
  use, intrinsic :: iso_fortran_env, only: event_type, lock_type
  implicit none
  type(event_type) :: event[*]
  type(lock_type) :: lock[*]
  integer :: box(4)[*], unit, who, me, status
  character(len=500) :: directory, way, text

  call get_command_argument(1, directory)
  call get_command_argument(2, way)
  call get_command_argument(3, text)
  read (text, *) who
  me = this_image()
  if (me == who .and. way == 'lock') lock (lock[1])
  sync all
  write (text, '(a,a,i0)') trim(directory), '/', me - 1
  open (newunit=unit, file=trim(text)//'.part')
  write (unit, '(i0)') getpid()
  close (unit)
  call rename(trim(text)//'.part', trim(text))

  status = 0
  do while (me == who .and. way /= 'around')
    call sleep(1)
  end do
  select case (way)
  case ('sync_all')
    sync all (stat=status)
  case ('sync_images')
    sync images (who)
  case ('around')
    ! All wait most of the time, each time a little: they receive what comes themselves.
    do
      sync images ([1 + mod(me, num_images()), 1 + mod(me + num_images() - 2, num_images())])
    end do
  case ('event')
    event wait (event, stat=status)
  case ('lock')
    lock (lock[1], stat=status)
  case ('co_sum')
    call co_sum(box, stat=status)
  case ('gets') ! between nodes there is no answer
    do
      box(:) = box(:)[who]
    end do
  end select
  print '(a,i0,2a,i0)', 'image ', me, ' went on after ', trim(way), status
end program victim
