! SPDX-License-Identifier: BSD-3-Clause
! FORM TEAM, CHANGE TEAM, END TEAM, SYNC TEAM, team_number, image numbers in teams, coarrays
! allocated in teams.
program teams
  use iso_fortran_env, only: team_type
  implicit none
  type(team_type) :: half, quarter, again
  integer :: x[*], me, n, members, mine, i, k, sum
  integer, allocatable :: c(:)[:]
  me = this_image(); n = num_images()
  x = me
  if (team_number() /= -1) error stop 'number of the initial team'
  mine = 2 - mod(me, 2)
  members = (n + 2 - mine) / 2
  do i = 1, 20
    form team (mine, half)
  end do
  form team (mine, half)
  change team (half)
    if (team_number() /= mine) error stop 'team_number'
    if (num_images() /= members) error stop 'num_images in a team'
    if (this_image() /= (me + 1) / 2) error stop 'this_image in a team'
    do i = 1, num_images()
      k = x[i]
      if (k /= 2 * i - 2 + mine) error stop 'an image of the team'
    end do
    sum = me
    call co_sum(sum)
    if (sum /= members * (members - 1) + members * mine) error stop 'co_sum in a team'
    k = me
    call co_broadcast(k, num_images())
    if (k /= 2 * num_images() - 2 + mine) error stop 'co_broadcast in a team'
    allocate (c(3)[*])
    c = this_image()
    sync all
    if (c(2)[num_images()] /= num_images()) error stop 'a coarray of the team'
    form team (this_image() + 10, quarter)
    change team (quarter)
      if (team_number() /= (me + 1) / 2 + 10 .or. num_images() /= 1 .or. this_image() /= 1) &
        error stop 'a team of one'
      if (team_number(half) /= mine) error stop 'team_number(half)'
      sync team (half)
      sync all
    end team
    sync team (half)
  end team
  if (allocated(c)) error stop 'a coarray of a team that has ended'
  if (num_images() /= n .or. this_image() /= me .or. team_number() /= -1) &
    error stop 'back in the initial team'
  sync team (half)
  ! The same teams once more, some images elsewhere
  form team (merge(1, 7, me == 1 .or. me == n), again)
  if (me == 1 .or. me == n) then
    change team (again)
      sum = me
      call co_max(sum)
      if (sum /= n) error stop 'co_max in a team'
      if (num_images() /= min(n, 2)) error stop 'first and last'
    end team
  end if
  sync all
  if (me == 1) print '(a)', 'ok teams'
end program
