! SPDX-License-Identifier: BSD-3-Clause
! Images stop or fail at any moment while the others are in collective calls: no image waits for
! ever, and results are right or come with a stat. The sequence of statements is the same on all
! images and differs from run to run.
program ending
  use iso_fortran_env
  implicit none
  integer, parameter :: steps = 400
  type(team_type) :: halves
  integer :: me, n, s, i, k, kind, last, seed, initial_seed, mine
  logical :: fails
  me = this_image(); n = num_images()
  if (me == 1) call system_clock(seed)
  call co_broadcast(seed, 1)
  seed = mod(abs(seed), 100000) + 1
  initial_seed = seed
  mine = mod(me, 2) + 1
  last = steps + 1
  fails = .false.
  form team (mine, halves) ! so that there is more than one team to attend to
  ! All images but the first end, at a step of their own
  last = steps + 1
  fails = .false.
  do i = 1, n
    k = draw(steps)
    kind = draw(3)
    if (i == me) then
      last = merge(steps + 1, k, me == 1)
      fails = kind > 1
    end if
  end do
  do i = 1, steps
    kind = draw(8)
    if (i == last .and. mod(initial_seed, 2) == 0) call leave
    select case (kind)
    case (1, 2)
      sync all (stat=s)
      call known
    case (3)
      k = me
      call co_sum(k, stat=s)
      call known
      if (s == 0 .and. k /= n * (n + 1) / 2) call wrong('co_sum')
    case (4, 5)
      k = i * me
      call co_broadcast(k, 1, stat=s)
      call known
      if (s == 0 .and. k /= i) call wrong('co_broadcast')
    case (6)
      k = me
      call co_reduce(k, larger, stat=s)
      call known
      if (s == 0 .and. k /= n) call wrong('co_reduce')
    case default
      sync images (*, stat=s)
      call known
    end select
    if (i == last .and. mod(initial_seed, 2) == 1) call leave
  end do
  do while (size(stopped_images()) + size(failed_images()) < n - 1 .and. me == 1)
  end do
  if (me == 1) print '(a)', 'ok ending'
contains
  integer function draw(limit)
    integer, intent(in) :: limit
    seed = mod(seed * 421 + 54773, 259200)
    draw = mod(seed / 7, limit) + 1
  end function
  subroutine leave
    if (fails) fail image
    stop
  end subroutine
  subroutine known
    if (s /= 0 .and. s /= stat_stopped_image .and. s /= stat_failed_image) call wrong('stat')
  end subroutine
  subroutine wrong(what)
    character(*), intent(in) :: what
    print *, 'image', me, 'step', i, 'seed', initial_seed, what, s, k
    error stop
  end subroutine
  pure integer function larger(a, b)
    integer, intent(in) :: a, b
    larger = max(a, b)
  end function
end program
