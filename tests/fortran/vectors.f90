! SPDX-License-Identifier: BSD-3-Clause
! vectors.f90 - vector transfers, blocking and not, puts with a flag, aggregation, and the helpers
! for strided memory from Fortran, results checked. What each call means in detail is tested in C;
! here only the binding.
include 'checks.inc'
program vectors
  use, intrinsic :: iso_c_binding
  use armci
  use checks
  implicit none
  integer, parameter :: n = 60
  real(c_double), pointer :: mine(:)
  integer(c_int), pointer, volatile :: flag

  call start(n * 8 + 8)
  call c_f_pointer(transfer(addr(me), c_null_ptr), mine, [n])
  call c_f_pointer(transfer(addr(me) + n * 8, c_null_ptr), flag)
  call blocking()
  call accumulate()
  call nonblocking()
  call aggregate()
  call flags()
  call pack()
  call walk()
  call finish('vectors')

contains

  ! A descriptor of 3 segments of 2 numbers, every 10th, and one of 1 segment of 5 numbers.
  subroutine blocking()
    real(c_double), target :: out(30), back(30)
    type(c_ptr), target :: from(3), other(1)
    integer(armci_addr), target :: to(3), end(1)
    type(armci_giov_t) :: segments(2)
    integer :: i
    out = [(100.0d0 * me + i, i=1, 30)]
    back = 0
    mine = -1
    call armci_barrier()
    from = [c_loc(out(1)), c_loc(out(11)), c_loc(out(21))]
    other = [c_loc(out(26))]
    to = addr(right) + [0, 80, 160]
    end = addr(right) + 400
    segments(1) = armci_giov_t(src_ptr_array=c_loc(from), dst_ptr_array=c_loc(to), &
      ptr_array_len=3, bytes=16)
    segments(2) = armci_giov_t(src_ptr_array=c_loc(other), dst_ptr_array=c_loc(end), &
      ptr_array_len=1, bytes=40)
    call check(armci_putv(segments, 2, right), 'armci_putv')
    call armci_barrier()
    do i = 0, 2
      call equal(mine(10 * i + 1), 100.0d0 * left + 10 * i + 1, 'first of a segment')
      call equal(mine(10 * i + 2), 100.0d0 * left + 10 * i + 2, 'second of a segment')
      call equal(mine(10 * i + 3), -1.0d0, 'behind a segment')
    end do
    call equal(mine(51), 100.0d0 * left + 26, 'second descriptor')
    call equal(mine(55), 100.0d0 * left + 30, 'end of the second descriptor')
    call equal(mine(56), -1.0d0, 'behind the second descriptor')
    from = [c_loc(back(1)), c_loc(back(11)), c_loc(back(21))]
    segments(1) = armci_giov_t(src_ptr_array=c_loc(to), dst_ptr_array=c_loc(from), &
      ptr_array_len=3, bytes=16)
    call check(armci_getv(segments, 1, right), 'armci_getv')
    call equal(back(22), out(22), 'armci_getv')
    call equal(back(23), 0.0d0, 'behind what armci_getv got')
    call armci_barrier()
  end subroutine blocking

  ! Every rank adds 2 * 3 to two numbers of rank 0, to one of them twice, and once more without
  ! waiting.
  subroutine accumulate()
    real(c_double), target :: three(1)
    type(c_ptr), target :: from(3)
    integer(armci_addr), target :: to(3)
    type(armci_giov_t) :: segments(1)
    type(armci_hdl_t) :: handle
    mine = 1
    call armci_barrier()
    three = 3
    from = c_loc(three)
    to = addr(0) + [8, 24, 24]
    segments(1) = armci_giov_t(src_ptr_array=c_loc(from), dst_ptr_array=c_loc(to), &
      ptr_array_len=3, bytes=8)
    call check(armci_accv(armci_acc_dbl, 2.0d0, segments, 1, 0), 'armci_accv')
    call check(armci_nbaccv(armci_acc_dbl, 0.5d0, segments, 1, 0, handle), 'armci_nbaccv')
    call check(armci_wait(handle), 'armci_wait')
    call armci_barrier()
    if (me == 0) then
      call equal(mine(2), 1 + 7.5d0 * np, 'one accumulate')
      call equal(mine(4), 1 + 15.0d0 * np, 'two accumulates')
      call equal(mine(3), 1.0d0, 'between them')
    end if
    call armci_barrier()
  end subroutine accumulate

  ! With handles, which are asked and waited for, and with the implicit one.
  subroutine nonblocking()
    real(c_double), target :: out(4), back(4)
    type(c_ptr), target :: near(2)
    integer(armci_addr), target :: far(2)
    type(armci_giov_t) :: put(1), get(1)
    type(armci_hdl_t) :: handle
    integer :: i
    out = [(1000.0d0 * me + i, i=1, 4)]
    near = [c_loc(out(1)), c_loc(out(3))]
    far = addr(right) + [240, 320]
    put(1) = armci_giov_t(src_ptr_array=c_loc(near), dst_ptr_array=c_loc(far), ptr_array_len=2, &
      bytes=16)
    call armci_init_handle(handle)
    call check(armci_nbputv(put, 1, right, handle), 'armci_nbputv')
    do while (armci_test(handle) == 1)
    end do
    call armci_fence(right)
    near = [c_loc(back(1)), c_loc(back(3))]
    get(1) = armci_giov_t(src_ptr_array=c_loc(far), dst_ptr_array=c_loc(near), ptr_array_len=2, &
      bytes=16)
    call check(armci_nbgetv(get, 1, right), 'armci_nbgetv')
    call check(armci_waitproc(right), 'armci_waitproc')
    call true(all(abs(back - out) <= 0), 'armci_nbgetv')
    call armci_barrier()
  end subroutine nonblocking

  subroutine aggregate()
    real(c_double), asynchronous :: out(20)
    type(armci_hdl_t) :: handle
    integer :: i
    out = [(me + 0.5d0 * i, i=1, 20)]
    call armci_init_handle(handle)
    call armci_set_aggregate_handle(handle)
    do i = 1, 20
      call check(armci_nbput(out(i), addr(right) + 8 * (i - 1), 8, right, handle), 'armci_nbput')
    end do
    call check(armci_wait(handle), 'armci_wait')
    call armci_unset_aggregate_handle(handle)
    call armci_barrier()
    do i = 1, 20
      call equal(mine(i), left + 0.5d0 * i, 'an aggregated put')
    end do
    call armci_barrier()
  end subroutine aggregate

  ! The target waits for the flag by itself.
  subroutine flags()
    real(c_double) :: patch(2, 3)
    integer(c_int) :: count(2), here(1), there(1)
    patch = me + 0.25d0
    count = [16, 3]
    here = 16
    there = 80
    flag = 0
    call armci_barrier()
    call check(armci_put_flag(patch, addr(right), 48, addr(right) + n * 8, 7, right), &
      'armci_put_flag')
    do while (flag /= 7)
    end do
    call equal(mine(6), left + 0.25d0, 'armci_put_flag')
    call armci_barrier()
    call check(armci_puts_flag(patch, here, addr(right) + 80, there, count, 1, &
      addr(right) + n * 8, 8, right), 'armci_puts_flag')
    do while (flag /= 8)
    end do
    call equal(mine(31), left + 0.25d0, 'armci_puts_flag')
    call armci_barrier()
    patch = -me
    call check(armci_puts_flag_dir(patch, here, addr(right) + 80, there, count, 1, &
      addr(right) + n * 8, 9, right), 'armci_puts_flag_dir')
    do while (flag /= 9)
    end do
    call equal(mine(32), -1.0d0 * left, 'armci_puts_flag_dir')
    call armci_barrier()
  end subroutine flags

  ! Rows 2 and 3 of columns 1, 2, 3 of a matrix into a buffer and back.
  subroutine pack()
    integer(c_int) :: matrix(4, 3), buffer(6), count(2), stride(1)
    integer :: i
    matrix = reshape([(i, i=1, 12)], [4, 3])
    count = [8, 3]
    stride = 16
    call armci_write_strided(matrix(2, 1), 1, stride, count, buffer)
    call true(all(buffer == [2, 3, 6, 7, 10, 11]), 'armci_write_strided')
    buffer = -buffer
    call armci_read_strided(matrix(2, 1), 1, stride, count, buffer)
    call true(all(matrix(:, 2) == [5, -6, -7, 8]), 'armci_read_strided')
  end subroutine pack

  ! The same rows as segments.
  subroutine walk()
    integer(c_int), target :: matrix(4, 3)
    type(stride_info_t) :: position
    integer :: i
    call armci_stride_info_init(position, transfer(c_loc(matrix(2, 1)), 0_armci_addr), 1, [16], &
      [8, 3])
    call equal(armci_stride_info_count(position), 3, 'armci_stride_info_count')
    call equal(armci_stride_info_size(position), 3, 'armci_stride_info_size')
    call equal(armci_stride_info_seg_size(position), 8, 'armci_stride_info_seg_size')
    i = 0
    do while (armci_stride_info_has_more(position) == 1)
      call equal(armci_stride_info_pos(position), i, 'armci_stride_info_pos')
      call equal(armci_stride_info_seg_off(position), 16 * i, 'armci_stride_info_seg_off')
      i = i + 1
      call true(c_associated(transfer(armci_stride_info_seg_ptr(position), c_null_ptr), &
        c_loc(matrix(2, i))), 'armci_stride_info_seg_ptr')
      call armci_stride_info_next(position)
    end do
    call equal(i, 3, 'the number of segments')
    call armci_stride_info_destroy(position)
  end subroutine walk
end program vectors
