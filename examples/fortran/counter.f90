! SPDX-License-Identifier: BSD-3-Clause
! counter.f90 - a shared counter in Fortran: a free rank takes the next task. For newcomers.
program counter
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  integer(c_long), parameter :: tasks = 1000
  integer(c_int) :: me, nproc, ierr
  integer(armci_addr), allocatable :: memory(:)
  integer(c_long), pointer :: mine(:)
  integer(c_long) :: task, done, expected, total(1)

  call armci_msg_init(c_null_ptr, c_null_ptr)
  ierr = armci_init()
  me = armci_msg_me()
  nproc = armci_msg_nproc()

  allocate (memory(0:nproc - 1))
  ierr = armci_malloc(memory, 8_c_long)
  if (ierr /= 0) call armci_error('no memory' // c_null_char, 1_c_int)
  call c_f_pointer(transfer(memory(me), c_null_ptr), mine, [1])
  mine = 0
  call armci_barrier()

  done = 0
  total = 0
  do
    ! Atomic: task is the old value, and the counter of rank 0 grows by 1.
    ierr = armci_rmw(armci_fetch_and_add_long, task, memory(0), 1_c_int, 0_c_int)
    if (task >= tasks) exit
    done = done + 1
    total = total + work(task)
  end do
  print '(a,i0,a,i0,a)', 'rank ', me, ' did ', done, ' tasks'

  ! Sum over all ranks; every rank gets the result.
  call armci_msg_gop(total, 1_c_int, armci_op_sum)
  expected = 0
  do task = 0, tasks - 1
    expected = expected + work(task)
  end do
  if (total(1) /= expected) call armci_error('wrong sum' // c_null_char, 1_c_int)
  if (me == 0) print '(a,i0,a)', 'sum ', total(1), ': ok'

  call armci_barrier()
  ierr = armci_free(memory(me))
  ierr = armci_finalize()
  call armci_msg_finalize()

contains

  ! Some work whose cost depends on the task.
  function work(task) result(sum)
    integer(c_long), intent(in) :: task
    integer(c_long) :: sum, i
    sum = 0
    do i = 1, 100 * task
      sum = sum + mod(i, 7_c_long)
    end do
  end function work
end program counter
