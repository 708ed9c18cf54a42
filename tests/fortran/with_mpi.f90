! SPDX-License-Identifier: BSD-3-Clause
! with_mpi.f90 - a Fortran program that starts MPI itself and uses MPI and ARMCI side by side. Only
! for builds with an MPI; which calls of each are right is tested elsewhere.
program with_mpi
  use, intrinsic :: iso_c_binding
  use mpi
  use armci
  implicit none
  integer, parameter :: n = 1000
  integer :: ierr, rank, size, i, right, left, total, status(MPI_STATUS_SIZE)
  integer(armci_addr), allocatable :: addr(:)
  integer(c_int), pointer :: mine(:)
  integer(c_int) :: out(n), in(n)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  if (armci_init() /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call expect(int(armci_msg_me()), rank, 'rank')
  call expect(int(armci_msg_nproc()), size, 'size')
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  allocate (addr(0:size - 1))
  call expect(int(armci_malloc(addr, int(4 * n, c_long))), 0, 'armci_malloc')
  call c_f_pointer(transfer(addr(rank), c_null_ptr), mine, [n])
  do i = 1, 50
    out = rank * 1000 + i
    call expect(int(armci_put(out, addr(right), 4 * n, right)), 0, 'armci_put')
    call armci_fence(right)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call expect(int(minval(mine)), left * 1000 + i, 'the put of the left neighbour')
    call MPI_Sendrecv(out, n, MPI_INTEGER, right, i, in, n, MPI_INTEGER, left, i, MPI_COMM_WORLD, &
      status, ierr)
    call expect(int(maxval(in)), left * 1000 + i, 'the message of the left neighbour')
    call MPI_Allreduce(int(mine(1)), total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call expect(total, 1000 * size * (size - 1) / 2 + i * size, 'the sum')
    call armci_barrier()
  end do
  call expect(int(armci_free(addr(rank))), 0, 'armci_free')
  if (rank == 0) print '(a,i0,a)', 'ok with_mpi (', size, ' ranks)'
  call expect(int(armci_finalize()), 0, 'armci_finalize')
  call MPI_Finalize(ierr)

contains

  subroutine expect(got, want, what)
    integer, intent(in) :: got, want
    character(*), intent(in) :: what
    if (got /= want) then
      print *, 'rank', rank, what, got, 'expected', want
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
  end subroutine expect
end program with_mpi
