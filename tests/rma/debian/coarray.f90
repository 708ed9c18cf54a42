! SPDX-License-Identifier: BSD-3-Clause
! coarray.f90 - a coarray program over Debian's OpenCoarrays, a runtime of one-sided MPI: puts,
! gets, strided sections, atomics, critical sections and collectives with exact results.
program coarray
  use iso_fortran_env, only: atomic_int_kind
  implicit none
  integer, parameter :: n = 64
  integer :: matrix(n, n)[*], row(n), me, np, i, right, total
  integer(atomic_int_kind) :: counter[*], before
  integer :: guarded[*]
  me = this_image()
  np = num_images()
  right = merge(1, me + 1, me == np)
  matrix = 0
  counter = 0
  guarded = 0
  sync all
  do i = 1, n
    matrix(me, i)[right] = 1000 * me + i
  end do
  do i = 1, 10
    call atomic_add(counter[1], 1) ! OpenCoarrays 2.10 loses what atomic_fetch_add should return
  end do
  do i = 1, 5
    critical
      guarded[1] = guarded[1] + 1
    end critical
  end do
  sync all
  row = matrix(me, :)[right]
  do i = 1, n
    if (row(i) /= 1000 * me + i) error stop "a row that was put is not there"
  end do
  total = me
  call co_sum(total)
  if (total /= np * (np + 1) / 2) error stop "wrong sum"
  if (me == 1) then
    call atomic_ref(before, counter)
    if (before /= 10 * np) error stop "increments were lost"
    if (guarded /= 5 * np) error stop "the critical section is none"
    print '(a,i0,a)', "ok coarray (", np, " images)"
  end if
end program
