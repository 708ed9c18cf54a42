! SPDX-License-Identifier: BSD-3-Clause
! needs gfortran 16. Teams as values: GET_TEAM, NEW_INDEX=, STAT=, this_image and num_images of
! teams, TEAM= and TEAM_NUMBER=.
program team_values
  use iso_fortran_env
  implicit none
  type(team_type) :: half, parent, everyone, pair
  integer :: x[*], me, n, mine, members, i, k
  ! Saved: gfortran 16 passes the address of a copy of other variables that STAT= of FORM TEAM
  ! names.
  integer, save :: s
  character(90) :: msg
  me = this_image(); n = num_images()
  x = 10 * me
  if (team_number() /= -1) error stop 'initial number'
  everyone = get_team()
  if (team_number(everyone) /= -1 .or. num_images(everyone) /= n .or. this_image(everyone) /= me) &
    error stop 'get_team'
  mine = 2 - mod(me, 2)
  members = (n + 2 - mine) / 2
  ! Indexes in reverse order
  form team (mine, half, new_index=members + 1 - (me + 1) / 2, stat=s, errmsg=msg)
  if (s /= 0) error stop 'form team'
  change team (half, stat=s, errmsg=msg)
    if (s /= 0) error stop 'change team'
    if (team_number() /= mine .or. num_images() /= members) error stop 'in the team'
    if (this_image() /= members + 1 - (me + 1) / 2) error stop 'new_index'
    if (this_image(everyone) /= me .or. num_images(everyone) /= n) &
      error stop 'the initial team from inside'
    parent = get_team(parent_team)
    if (team_number(parent) /= -1 .or. team_number(get_team(initial_team)) /= -1) &
      error stop 'parent_team'
    if (team_number(get_team(current_team)) /= mine) error stop 'current_team'
    if (n > 1) then
      if (num_images(3 - mine) /= n - members) error stop 'num_images of the sibling'
      if (x[1, team_number=3 - mine] /= 10 * (2 * (n - members) - 2 + 3 - mine)) &
        error stop 'team_number='
    end if
    k = x[n, team=parent]
    if (k /= 10 * n) error stop 'team='
    do i = 1, members
      if (x[i] /= 10 * (2 * (members - i) + mine)) error stop 'coindex in the team'
    end do
    sync all
    sync team (parent, stat=s)
    if (s /= 0) error stop 'sync team'
  end team
  sync all
  ! What cannot be had
  form team (0, pair, stat=s, errmsg=msg)
  if (s == 0 .or. index(msg, 'not positive') == 0) error stop 'team number 0'
  form team (1, pair, new_index=1, stat=s, errmsg=msg)
  if ((s == 0) .neqv. (n == 1)) error stop 'equal indexes'
  if (n > 1 .and. index(msg, 'NEW_INDEX') == 0) error stop 'message for equal indexes'
  sync all
  if (me == 1) print '(a)', 'ok team_values'
end program
