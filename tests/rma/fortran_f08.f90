! SPDX-License-Identifier: BSD-3-Clause
! fortran_f08.f90 - one-sided communication with the module mpi_f08: windows over a Fortran array
! and of MPI_Win_allocate with a C pointer, put, get, accumulate, fetch and op, compare and swap,
! requests, fence, locks, post-start, attributes, errors. It checks every value and is not about
! anything that the C programs check better.
program fortran_f08
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer :: me, np, ierror, right, left

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierror)
  right = mod(me + 1, np)
  left = mod(me + np - 1, np)
  call over_array()
  call allocated()
  call atomics()
  call post_start()
  call attributes()
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (me == 0) print '(a,i0,a)', 'ok fortran_f08 (', np, ' ranks)'
  call MPI_Finalize(ierror)

contains

  subroutine check(what, got, want)
    character(*), intent(in) :: what
    integer, intent(in) :: got, want
    integer :: e
    if (got == want) return
    print '(a,i0,3a,i0,a,i0)', 'rank ', me, ': check failed: ', what, ' is ', got, ', expected ', &
      want
    call MPI_Abort(MPI_COMM_WORLD, 1, e)
  end subroutine

  ! A window over an array: fence, put and get, units of an element.
  subroutine over_array()
    double precision, asynchronous :: memory(100), data(10), got(10)
    type(MPI_Win) :: win
    integer :: i, e
    memory = -1d0
    call MPI_Win_create(memory, 800_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call check('MPI_Win_create', e, MPI_SUCCESS)
    do i = 1, 10
      data(i) = 100 * me + i
    end do
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, e)
    call MPI_Put(data, 10, MPI_DOUBLE_PRECISION, right, 5_MPI_ADDRESS_KIND, 10, &
      MPI_DOUBLE_PRECISION, win, e)
    call check('MPI_Put', e, MPI_SUCCESS)
    call MPI_Win_fence(0, win, e)
    do i = 1, 100
      if (i > 5 .and. i <= 15) then
        call check('an element that was put', nint(memory(i)), 100 * left + i - 5)
      else
        call check('an element beside', nint(memory(i)), -1)
      end if
    end do
    call MPI_Win_fence(0, win, e) ! the loads above have ended
    call MPI_Get(got, 10, MPI_DOUBLE_PRECISION, right, 5_MPI_ADDRESS_KIND, 10, &
      MPI_DOUBLE_PRECISION, win, e)
    call MPI_Accumulate(data, 10, MPI_DOUBLE_PRECISION, right, 20_MPI_ADDRESS_KIND, 10, &
      MPI_DOUBLE_PRECISION, MPI_SUM, win, e)
    call check('MPI_Accumulate', e, MPI_SUCCESS)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, e)
    do i = 1, 10
      call check('an element that was got', nint(got(i)), 100 * me + i)
      call check('a sum', nint(memory(20 + i)), 100 * left + i - 1)
    end do
    call MPI_Win_free(win, e)
    call check('the handle after MPI_Win_free is none', merge(1, 0, win == MPI_WIN_NULL), 1)
  end subroutine

  ! A window with memory of its own, through a C pointer: locks and flushes, a derived type,
  ! requests.
  subroutine allocated()
    integer, pointer, asynchronous :: memory(:)
    integer, asynchronous :: data(8), got(8)
    type(c_ptr) :: base
    type(MPI_Win) :: win
    type(MPI_Datatype) :: vector
    type(MPI_Request) :: request(2)
    type(MPI_Status) :: status(2)
    integer :: i, e
    call MPI_Win_allocate(4 * 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, e)
    call check('MPI_Win_allocate', e, MPI_SUCCESS)
    call c_f_pointer(base, memory, [64])
    memory = -7
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Type_vector(4, 2, 4, MPI_INTEGER, vector, e)
    call MPI_Type_commit(vector, e)
    data = [(1000 * me + i, i = 1, 8)]
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, e)
    call MPI_Put(data, 8, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 1, vector, win, e)
    call MPI_Win_flush(right, win, e)
    got = 0
    call MPI_Get(got, 8, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 1, vector, win, e)
    call MPI_Win_unlock(right, win, e)
    do i = 1, 8
      call check('an element that was got by a vector', got(i), data(i))
    end do
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win, e)
    do i = 0, 15
      if (mod(i, 4) < 2) call check('an element of the vector', memory(11 + i), &
        1000 * left + i / 4 * 2 + mod(i, 4) + 1)
      if (mod(i, 4) >= 2) call check('an element between', memory(11 + i), -7)
    end do
    call MPI_Win_unlock(me, win, e)
    call MPI_Win_lock_all(0, win, e)
    call MPI_Rput(data, 8, MPI_INTEGER, right, 40_MPI_ADDRESS_KIND, 8, MPI_INTEGER, win, &
      request(1), e)
    call MPI_Rget(got, 4, MPI_INTEGER, right, 10_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win, &
      request(2), e)
    call MPI_Waitall(2, request, status, e)
    call check('MPI_Waitall', e, MPI_SUCCESS)
    call MPI_Win_flush_all(win, e)
    call check('the first element of MPI_Rget', got(1), data(1))
    call check('the third element of MPI_Rget', got(3), -7)
    call MPI_Win_unlock_all(win, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win, e)
    call check('the last element of MPI_Rput', memory(48), 1000 * left + 8)
    call MPI_Win_unlock(me, win, e)
    call MPI_Type_free(vector, e)
    call MPI_Win_free(win, e)
  end subroutine

  ! Tickets and a counter by compare and swap, both at rank 0.
  subroutine atomics()
    integer, parameter :: rounds = 20
    integer, asynchronous :: memory(2), one, ticket, old, new, was
    type(MPI_Win) :: win
    integer :: i, e, last
    memory = 0
    one = 1
    last = -1
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_lock_all(0, win, e)
    do i = 1, rounds
      call MPI_Fetch_and_op(one, ticket, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, MPI_SUM, win, e)
      call MPI_Win_flush(0, win, e)
      if (ticket <= last .or. ticket >= rounds * np) call check('a ticket', ticket, last + 1)
      last = ticket
      old = 0
      do
        new = old + 1
        call MPI_Compare_and_swap(new, old, was, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, win, e)
        call MPI_Win_flush(0, win, e)
        if (was == old) exit
        old = was
      end do
    end do
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Get_accumulate(one, 0, MPI_INTEGER, was, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, &
      MPI_INTEGER, MPI_NO_OP, win, e)
    call MPI_Win_flush(0, win, e)
    call check('the number of tickets', was, rounds * np)
    call MPI_Win_unlock_all(win, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    if (me == 0) call check('the counter', memory(2), rounds * np)
    call MPI_Win_free(win, e)
  end subroutine

  ! Post, start, complete and wait in a ring; logical and complex data.
  subroutine post_start()
    logical, asynchronous :: memory(2), flag(2)
    type(MPI_Win) :: win
    type(MPI_Group) :: all, to, from
    integer :: e
    memory = .false.
    flag = [.true., mod(me, 2) == 0]
    call MPI_Win_create(memory, int(storage_size(memory) / 4, MPI_ADDRESS_KIND), &
      storage_size(memory) / 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_get_group(win, all, e)
    call MPI_Group_incl(all, 1, [right], to, e)
    call MPI_Group_incl(all, 1, [left], from, e)
    call MPI_Win_post(from, 0, win, e)
    call MPI_Win_start(to, 0, win, e)
    call MPI_Put(flag, 2, MPI_LOGICAL, right, 0_MPI_ADDRESS_KIND, 2, MPI_LOGICAL, win, e)
    call MPI_Win_complete(win, e)
    call MPI_Win_wait(win, e)
    call check('a logical', merge(1, 0, memory(1)), 1)
    call check('another logical', merge(1, 0, memory(2)), merge(1, 0, mod(left, 2) == 0))
    call MPI_Group_free(all, e)
    call MPI_Group_free(to, e)
    call MPI_Group_free(from, e)
    call MPI_Win_free(win, e)
  end subroutine

  ! Attributes, name and error handler.
  subroutine attributes()
    integer, asynchronous :: memory(4)
    type(MPI_Win) :: win
    integer :: e, class, length
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    character(MPI_MAX_OBJECT_NAME) :: name
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, e)
    call check('MPI_WIN_SIZE is there', merge(1, 0, flag), 1)
    call check('MPI_WIN_SIZE', int(value), 16)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, e)
    call check('MPI_WIN_DISP_UNIT', int(value), 4)
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, e)
    call check('MPI_WIN_CREATE_FLAVOR', int(value), MPI_WIN_FLAVOR_CREATE)
    call MPI_Win_set_name(win, 'a window', e)
    call MPI_Win_get_name(win, name, length, e) ! Open MPI 4.1 gives one letter, 5.0 none
    call check('the length of the name', length, 8)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, e)
    call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win, e)
    call MPI_Put(memory, 1, MPI_INTEGER, np, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, e)
    call MPI_Error_class(e, class, ierror)
    call check('the class of an error', class, MPI_ERR_RANK)
    call MPI_Win_unlock(me, win, e)
    call MPI_Win_free(win, e)
  end subroutine
end program
