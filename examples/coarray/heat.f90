! SPDX-License-Identifier: BSD-3-Clause
! heat.f90 - heat spreads on a square plate, which is divided among the images as a grid of blocks.
! Before each step every image puts the edges of its block into the halo of its neighbours: columns
! are contiguous, rows are strided, and either is one transfer. At the end the first image checks
! the plate against a run of its own.
!
!   caf-armci -O2 heat.f90 -o heat && armcirun -n 4 ./heat
program heat
  implicit none
  integer, parameter :: dp = kind(1d0), side = 48, steps = 200
  real(dp), parameter :: rate = 0.2_dp
  real(dp), allocatable :: u(:, :)[:, :], next(:, :), plate(:, :)
  integer :: rows, columns, r, c, p, q, step, me(2)
  integer, allocatable :: neighbours(:)

  ! The grid of images: as square as their number allows. The plate's side is cut to a multiple.
  rows = int(sqrt(real(num_images())))
  do while (mod(num_images(), rows) /= 0)
    rows = rows - 1
  end do
  columns = num_images()/rows
  r = side/rows
  c = side/columns
  allocate (u(0:r + 1, 0:c + 1)[rows, *], next(r, c))
  me = this_image(u)
  p = me(1)
  q = me(2)
  neighbours = [integer ::]
  if (p > 1) neighbours = [neighbours, image_index(u, [p - 1, q])]
  if (p < rows) neighbours = [neighbours, image_index(u, [p + 1, q])]
  if (q > 1) neighbours = [neighbours, image_index(u, [p, q - 1])]
  if (q < columns) neighbours = [neighbours, image_index(u, [p, q + 1])]

  u = 0
  if (p == 1) u(0, :) = 100 ! the upper edge of the plate is hot
  sync all
  do step = 1, steps
    if (p > 1) u(r + 1, 1:c)[p - 1, q] = u(1, 1:c)
    if (p < rows) u(0, 1:c)[p + 1, q] = u(r, 1:c)
    if (q > 1) u(1:r, c + 1)[p, q - 1] = u(1:r, 1)
    if (q < columns) u(1:r, 0)[p, q + 1] = u(1:r, c)
    sync images (neighbours) ! my halo is there, and theirs
    call one_step(u, next)
    sync images (neighbours) ! all have read their halo
    u(1:r, 1:c) = next
  end do
  sync all

  if (this_image() == 1) then
    call serial(plate, r*rows, c*columns)
    do q = 1, columns
      do p = 1, rows
        next(:, :) = u(1:r, 1:c)[p, q]
        if (any(abs(next - plate((p - 1)*r + 1:p*r, (q - 1)*c + 1:q*c)) > 1d-9)) &
          error stop 'a block is wrong'
      end do
    end do
    print '(4(a,i0),a,f7.4,a)', 'ok heat: ', r*rows, ' x ', c*columns, ' points on ', rows, ' x ', &
      columns, ' images, ', plate(1, 1), ' degrees in the corner'
  end if
contains
  ! One step of the explicit scheme: each point moves towards the mean of its neighbours.
  subroutine one_step(from, to)
    real(dp), intent(in) :: from(0:, 0:)
    real(dp), intent(out) :: to(:, :)
    integer :: m, n
    m = size(to, 1)
    n = size(to, 2)
    to = from(1:m, 1:n) + rate*(from(0:m - 1, 1:n) + from(2:m + 1, 1:n) + from(1:m, 0:n - 1) &
      + from(1:m, 2:n + 1) - 4*from(1:m, 1:n))
  end subroutine one_step

  subroutine serial(all, m, n)
    real(dp), allocatable, intent(out) :: all(:, :)
    integer, intent(in) :: m, n
    real(dp), allocatable :: new(:, :)
    integer :: i
    allocate (all(0:m + 1, 0:n + 1), source=0._dp)
    allocate (new(m, n))
    all(0, :) = 100
    do i = 1, steps
      call one_step(all, new)
      all(1:m, 1:n) = new
    end do
  end subroutine serial
end program heat
