! SPDX-License-Identifier: BSD-3-Clause
! Locks and CRITICAL: exclusion, ACQUIRED_LOCK, stat values, arrays, allocated ones.
program locks
  use iso_fortran_env
  implicit none
  integer, parameter :: rounds = 300
  type(lock_type) :: lock1[*], several(3)[*]
  type(lock_type), allocatable :: dynamic(:)[:]
  integer :: counter[*], counters(3)[*]
  integer(atomic_int_kind) :: total[*] = 0
  integer :: me, n

  me = this_image()
  n = num_images()
  counter = 0
  counters = 0
  sync all
  call exclusion
  call arrays
  call criticals
  call stats
  call acquired
  call mistakes
  if (me == 1) print '(a)', 'ok locks'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    write (error_unit, '(a,i0,2a)') 'image ', me, ': wrong: ', what
    error stop 1
  end subroutine

  ! A counter that only the lock protects, on another image than the lock.
  subroutine exclusion
    integer :: i
    do i = 1, rounds
      lock (lock1[1])
      counter[n] = counter[n] + 1
      unlock (lock1[1])
    end do
    sync all
    call check(counter[n] == rounds * n, 'counter behind a lock')
    sync all
  end subroutine

  ! Locks of an array are independent, and each image's its own.
  subroutine arrays
    integer :: i, j
    lock (several(1)[me])
    sync all
    do i = 1, rounds
      j = 2 + mod(i, 2)
      lock (several(j)[n])
      counters(j)[1] = counters(j)[1] + 1
      unlock (several(j)[n])
    end do
    unlock (several(1)[me])
    sync all
    call check(all(counters(2:)[1] == rounds * n / 2), 'counters behind an array of locks')
    allocate(dynamic(0:1)[*])
    do i = 1, rounds
      lock (dynamic(1)[1])
      counters(1)[1] = counters(1)[1] + 1
      unlock (dynamic(1)[1])
    end do
    sync all
    call check(counters(1)[1] == rounds * n, 'counter behind an allocated lock')
    sync all
    lock (dynamic(0)[n], stat=i)
    if (i == 0) unlock (dynamic(0)[n])
    deallocate(dynamic)
  end subroutine

  subroutine criticals
    integer :: i
    counter = 0
    sync all
    do i = 1, rounds
      critical
        counter[n] = counter[n] + 1
      end critical
    end do
    sync all
    call check(counter[n] == rounds * n, 'counter in critical')
    sync all
  end subroutine

  subroutine stats
    integer :: stat
    character(60) :: text
    text = ''
    stat = -1
    lock (lock1[me], stat=stat)
    call check(stat == 0, 'stat of lock')
    lock (lock1[me], stat=stat, errmsg=text)
    call check(stat == stat_locked .and. text /= '', 'locked by this image')
    sync all
    if (n > 1) then
      text = ''
      unlock (lock1[merge(1, me + 1, me == n)], stat=stat, errmsg=text)
      call check(stat == stat_locked_other_image .and. text /= '', 'unlock of another image''s')
    end if
    sync all
    unlock (lock1, stat=stat)
    call check(stat == 0, 'stat of unlock')
    text = ''
    unlock (lock1, stat=stat, errmsg=text)
    call check(stat == stat_unlocked .and. text /= '', 'unlock of what is not locked')
    sync all
  end subroutine

  subroutine acquired
    logical :: got
    integer :: i, stat, taken
    sync all
    if (me == 1) then
      lock (lock1[1], acquired_lock=got, stat=stat)
      call check(got .and. stat == 0, 'acquired')
    end if
    sync all
    if (me /= 1) then
      lock (lock1[1], acquired_lock=got)
      call check(.not. got, 'not acquired')
    end if
    sync all
    if (me == 1) unlock (lock1[1])
    counter = 0
    sync all
    taken = 0
    do i = 1, rounds
      lock (lock1[1], acquired_lock=got)
      if (.not. got) cycle
      counter[1] = counter[1] + 1
      taken = taken + 1
      unlock (lock1[1])
    end do
    call check(n > 1 .or. taken == rounds, 'always acquired by one image')
    call atomic_add(total[1], int(taken, atomic_int_kind))
    sync all
    call check(counter[1] == total[1], 'counter behind an acquired lock')
    sync all
  end subroutine

  subroutine mistakes
    integer :: stat, i
    character(60) :: text
    i = 4
    lock (several(i)[1], stat=stat, errmsg=text)
    call check(stat /= 0 .and. index(text, 'element 4') > 0, 'lock of no element: ' // text)
    lock (lock1[n + 1], stat=stat, errmsg=text)
    call check(stat /= 0 .and. index(text, 'image') > 0, 'lock on no image: ' // text)
    unlock (lock1[n + 1], stat=stat)
    call check(stat /= 0, 'unlock on no image')
    sync all
  end subroutine
end program
