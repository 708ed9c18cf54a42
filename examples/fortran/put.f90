! SPDX-License-Identifier: BSD-3-Clause
! put.f90 - one-sided transfer in Fortran: every rank writes a column into the memory of its right
! neighbour. For newcomers; addresses of remote memory are integers that count bytes.
!
!   armcifort put.f90 -o put && armcirun -n 4 ./put
program put
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  integer, parameter :: n = 10
  integer(c_int) :: me, nproc, right, left, ierr
  integer(armci_addr), allocatable :: memory(:)
  real(c_double), pointer :: mine(:)
  real(c_double) :: column(n)
  integer :: i

  call armci_msg_init(c_null_ptr, c_null_ptr) ! starts MPI too when it is linked in
  ierr = armci_init()
  me = armci_msg_me()
  nproc = armci_msg_nproc()
  right = mod(me + 1, nproc)
  left = mod(me + nproc - 1, nproc)

  ! Collective: every rank allocates n numbers and learns all addresses.
  allocate (memory(0:nproc - 1))
  ierr = armci_malloc(memory, int(n * 8, c_long))
  if (ierr /= 0) call armci_error('no memory' // c_null_char, 1_c_int)
  ! My own part as an ordinary array.
  call c_f_pointer(transfer(memory(me), c_null_ptr), mine, [n])

  column = [(100 * me + i, i=1, n)]
  ierr = armci_put(column, memory(right), int(n * 8, c_int), right)
  call armci_barrier() ! all puts of all ranks are complete

  if (any(nint(mine) /= [(100 * left + i, i=1, n)])) &
    call armci_error('wrong numbers' // c_null_char, 1_c_int)
  print '(a,i0,a,i0,a)', 'rank ', me, ': the column of rank ', left, ' is here: ok'

  call armci_barrier()
  ierr = armci_free(memory(me))
  ierr = armci_finalize()
  call armci_msg_finalize()
end program put
