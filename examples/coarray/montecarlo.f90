! SPDX-License-Identifier: BSD-3-Clause
! montecarlo.f90 - pi by random points. All images but the first are workers: each puts the hits of
! a batch into its own slot at the first image and posts an event there; the first image waits for
! the events, sleeping while there is none, and posts back when the slot may be written again.
! Batches have seeds of their own, so that the result can be checked.
!
!   caf-armci -O2 montecarlo.f90 -o montecarlo && armcirun -n 4 ./montecarlo
program montecarlo
  use, intrinsic :: iso_fortran_env, only: event_type, int64
  implicit none
  integer, parameter :: batches = 60, points = 20000
  integer(int64), allocatable :: slot(:)[:]        ! by worker; the first image's are used
  type(event_type), allocatable :: result(:)[:]    ! by worker, of the first image: the slot is full
  type(event_type) :: free[*]                      ! of a worker: its slot has been read
  integer(int64) :: total
  integer :: batch, worker, workers

  workers = num_images() - 1
  allocate (slot(max(workers, 1))[*], result(max(workers, 1))[*])
  total = 0
  sync all
  if (workers == 0) then
    total = sum([(hits(batch), batch=1, batches)])
  else if (this_image() > 1) then
    worker = this_image() - 1
    do batch = worker, batches, workers
      if (batch > workers) event wait (free)
      slot(worker)[1] = hits(batch)
      event post (result(worker)[1]) ! its waiter sees what was put before
    end do
  else
    do batch = 1, batches
      worker = 1 + mod(batch - 1, workers)
      event wait (result(worker))
      total = total + slot(worker)
      if (batch + workers <= batches) event post (free[worker + 1])
    end do
  end if

  if (this_image() == 1) then
    if (total /= sum([(hits(batch), batch=1, batches)])) &
      error stop 'a result is missing or was counted twice'
    print '(a,f8.5,a,i0,a)', 'ok montecarlo: pi is about ', 4*real(total)/(real(batches)*points), &
      ', by ', max(workers, 1), ' workers'
  end if
contains
  ! Points of a batch inside the quarter of a circle, from a small generator of random numbers.
  integer(int64) function hits(batch)
    integer, intent(in) :: batch
    integer(int64), parameter :: modulus = 2147483647
    integer(int64) :: state
    real :: x, y
    integer :: k
    state = 1 + mod(batch*69621_int64*1000003, modulus - 1)
    hits = 0
    do k = 1, points
      state = mod(state*48271, modulus)
      x = real(state)/real(modulus)
      state = mod(state*48271, modulus)
      y = real(state)/real(modulus)
      if (x*x + y*y <= 1) hits = hits + 1
    end do
  end function hits
end program montecarlo
