! SPDX-License-Identifier: BSD-3-Clause
! RANDOM_INIT: equal or different numbers on images, repeated or not.
program random
  implicit none
  real(8) :: a(4), b(4), first(4)
  logical :: same
  integer :: me, n
  me = this_image(); n = num_images()
  call numbers(.true., .false., a); first = a
  call co_broadcast(first, 1)
  if (any(a /= first)) error stop 'repeatable, equal'
  call numbers(.true., .false., b)
  if (any(a /= b)) error stop 'repeatable, again'
  call numbers(.false., .false., a); first = a
  call co_broadcast(first, n)
  if (any(a /= first)) error stop 'not repeatable, equal'
  call numbers(.false., .false., b)
  if (all(a == b)) error stop 'not repeatable, again'
  call numbers(.true., .true., a); first = a
  call co_broadcast(first, 1)
  same = all(a == first)
  if (same .neqv. me == 1) error stop 'repeatable, distinct'
  call numbers(.true., .true., b)
  if (any(a /= b)) error stop 'repeatable, distinct, again'
  call numbers(.false., .true., a); first = a
  call co_broadcast(first, 1)
  same = all(a == first)
  if (same .neqv. me == 1) error stop 'not repeatable, distinct'
  sync all
  if (me == 1) print '(a)', 'ok random'
contains
  subroutine numbers(repeatable, distinct, x)
    logical, intent(in) :: repeatable, distinct
    real(8), intent(out) :: x(:)
    call random_init(repeatable, distinct)
    call random_number(x)
    if (any(x < 0 .or. x >= 1)) error stop 'random_number'
  end subroutine
end program
