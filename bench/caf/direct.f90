! SPDX-License-Identifier: BSD-3-Clause
! Baselines: the ARMCI call that does what a coarray statement does, made by the program itself, in
! the same job.
module direct
  use, intrinsic :: iso_c_binding
  use armci
  use task
  implicit none
  private
  public :: direct_start, direct_task

  integer(armci_addr), allocatable :: at(:) ! by rank
  real(real64) :: here(side, side), data(most)
  integer(c_int) :: there                   ! rank of the other image
  integer(c_int), parameter :: row_bytes = 8 * side, no_stride(1) = 8
contains
  subroutine check(code)
    integer(c_int), intent(in) :: code
    if (code /= 0) error stop 'an ARMCI call failed'
  end subroutine

  ! All images call it.
  subroutine direct_start
    allocate (at(0:num_images() - 1))
    call check(armci_malloc(at, 8_c_long * most))
    call check(armci_create_mutexes(1_c_int))
    there = int(other - 1, c_int)
    here = 1
    data = 0
  end subroutine

  ! The baseline of a figure; null: it has none.
  function direct_task(op) result(p)
    character(*), intent(in) :: op
    procedure(body), pointer :: p
    p => null()
    select case (op)
    case ('put'); p => put
    case ('put+sync-memory'); p => put_fence
    case ('get'); p => get
    case ('put-row'); p => put_row
    case ('get-row'); p => get_row
    case ('put-block'); p => put_block
    case ('get-block'); p => get_block
    case ('atomic-fetch-add'); p => fetch_add
    case ('lock+unlock'); p => lock_unlock
    case ('sync-all'); p => barrier
    case ('sync-memory'); p => fence
    case ('co-sum'); p => total
    case ('co-broadcast'); p => broadcast
    case ('allocate+deallocate'); p => malloc_free
    end select
  end function

  subroutine put(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call check(armci_put(data, at(there), int(8 * elements, c_int), there))
    end do
  end subroutine

  subroutine put_fence(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call check(armci_put(data, at(there), int(8 * elements, c_int), there))
      call armci_allfence
    end do
  end subroutine

  subroutine get(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call check(armci_get(at(there), data, int(8 * elements, c_int), there))
    end do
  end subroutine

  subroutine put_row(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call check(armci_puts(data, no_stride, at(there), [row_bytes], [8_c_int, int(side, c_int)], &
        1_c_int, there))
    end do
  end subroutine

  subroutine get_row(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call check(armci_gets(at(there), [row_bytes], data, no_stride, [8_c_int, int(side, c_int)], &
        1_c_int, there))
    end do
  end subroutine

  subroutine put_block(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call check(armci_puts(data, [8_c_int * edge], at(there), [row_bytes], &
        [8_c_int * edge, int(edge, c_int)], 1_c_int, there))
    end do
  end subroutine

  subroutine get_block(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call check(armci_gets(at(there), [row_bytes], data, [8_c_int * edge], &
        [8_c_int * edge, int(edge, c_int)], 1_c_int, there))
    end do
  end subroutine

  subroutine fetch_add(turns)
    integer, intent(in) :: turns
    integer(c_int) :: old
    integer :: i
    do i = 1, turns
      call check(armci_rmw(armci_fetch_and_add, old, at(there), 1_c_int, there))
    end do
  end subroutine

  subroutine lock_unlock(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call armci_lock(0_c_int, there)
      call armci_unlock(0_c_int, there)
    end do
  end subroutine

  subroutine barrier(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call armci_barrier
    end do
  end subroutine

  subroutine fence(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call armci_allfence
    end do
  end subroutine

  subroutine total(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call armci_msg_dgop(data, int(elements, c_int), armci_op_sum)
    end do
  end subroutine

  subroutine broadcast(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call armci_msg_bcast(data, int(8 * elements, c_int), 0_c_int)
    end do
  end subroutine

  subroutine malloc_free(turns)
    integer, intent(in) :: turns
    integer(armci_addr) :: some(0:num_images() - 1)
    integer :: i
    do i = 1, turns
      call check(armci_malloc(some, int(8 * elements, c_long)))
      call armci_barrier ! as after ALLOCATE and before DEALLOCATE
      call armci_barrier
      call check(armci_free(some(me - 1)))
    end do
  end subroutine
end module
