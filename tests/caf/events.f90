! SPDX-License-Identifier: BSD-3-Clause
! Events: data behind them, counts, many posters, arrays, allocated ones, queries, mistakes.
program events
  use iso_fortran_env
  implicit none
  integer, parameter :: rounds = 300
  type(event_type) :: full[*], empty[*], all_of(4)[*]
  type(event_type), allocatable :: dynamic(:,:)[:]
  integer :: box(64)[*], filled(64), shelf(64)[*]
  integer :: me, n, next, before

  me = this_image()
  n = num_images()
  next = merge(1, me + 1, me == n)
  before = merge(n, me - 1, me == 1)
  call ring
  call third
  call counts
  call posters
  call arrays
  call mistakes
  if (me == 1) print '(a)', 'ok events'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    write (error_unit, '(a,i0,2a)') 'image ', me, ': wrong: ', what
    error stop 1
  end subroutine

  ! Each image fills its neighbour's box; the event says that it is full, another that it may be
  ! filled again.
  subroutine ring
    integer :: i
    event post (empty[before])
    do i = 1, rounds
      event wait (empty)
      filled = me * 1000 + i
      box(:)[next] = filled
      event post (full[next])
      event wait (full)
      call check(all(box == before * 1000 + i), 'data behind an event')
      event post (empty[before])
    end do
    event wait (empty)
    sync all
  end subroutine

  ! What an image stores on a third image before it posts is seen there by the waiter.
  subroutine third
    integer :: i, far, its_far
    far = 1 + mod(me + 1, n)
    its_far = 1 + mod(before + 1, n)
    shelf = 0
    sync all
    do i = 1, rounds
      shelf(me)[far] = i
      event post (full[next])
      event wait (full)
      call check(shelf(before)[its_far] == i, 'data on a third image behind an event')
      event post (empty[before])
      event wait (empty)
    end do
    sync all
  end subroutine

  ! Queries, and waits for several posts.
  subroutine counts
    integer :: count, stat, i
    character(40) :: text
    count = -5
    call event_query(full, count, stat)
    call check(count == 0 .and. stat == 0, 'query of none')
    sync all
    do i = 1, 5
      event post (full[next], stat=stat, errmsg=text)
      call check(stat == 0, 'stat of post')
    end do
    sync all
    call event_query(full, count)
    call check(count == 5, 'query of five')
    event wait (full, until_count=3, stat=stat)
    call event_query(full, count)
    call check(count == 2 .and. stat == 0, 'wait takes what it waits for')
    event wait (full, until_count=-7)
    event wait (full)
    call event_query(full, count)
    call check(count == 0, 'a count below one means one')
    sync all
  end subroutine

  ! Every image posts to every image; each waits for all.
  subroutine posters
    integer :: i, image, count
    do i = 1, rounds
      do image = 1, n
        event post (full[image])
      end do
      if (mod(i, 10) == 0) event wait (full, until_count=10 * n)
    end do
    sync all
    call event_query(full, count)
    call check(count == 0, 'posts of all')
    sync all
  end subroutine

  subroutine arrays
    integer :: i, j, count
    do i = 1, 4
      do j = 1, i
        event post (all_of(i)[next])
      end do
    end do
    do i = 4, 1, -1
      event wait (all_of(i), until_count=i)
    end do
    allocate(dynamic(2, -1:1)[*])
    call event_query(dynamic(2, 1), count)
    call check(count == 0, 'allocated events begin at 0')
    sync all
    event post (dynamic(2, 0)[next])
    event post (dynamic(1, 1)[next])
    event wait (dynamic(2, 0))
    event wait (dynamic(1, 1))
    sync all
    do j = -1, 1
      do i = 1, 2
        call event_query(dynamic(i, j), count)
        call check(count == 0, 'neighbours of an element')
      end do
    end do
    deallocate(dynamic)
    allocate(dynamic(1, 1)[*])
    event post (dynamic(1, 1)[me])
    event wait (dynamic(1, 1))
    deallocate(dynamic)
  end subroutine

  subroutine mistakes
    integer :: stat, i
    character(60) :: text
    text = ''
    event post (full[n + 1], stat=stat, errmsg=text)
    call check(stat /= 0 .and. index(text, 'image') > 0, 'post to no image: ' // text)
    i = 5
    event post (all_of(i)[me], stat=stat, errmsg=text)
    call check(stat /= 0 .and. index(text, 'element 5') > 0, 'post to no element: ' // text)
    event wait (all_of(i), stat=stat)
    call check(stat /= 0, 'wait for no element')
    if (n == 1) then
      event wait (full, stat=stat)
      call check(stat == stat_stopped_image, 'a wait that nobody can end')
    end if
    sync all
  end subroutine
end program
