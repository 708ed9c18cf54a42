! SPDX-License-Identifier: BSD-3-Clause
! atomics.f90 - atomic operations, events, batches of mutexes, single values, and memory of one rank
! from Fortran, results checked. What each call means in detail is tested in C; here only the
! binding.
include 'checks.inc'
program atomics
  use, intrinsic :: iso_c_binding
  use armci
  use checks
  implicit none
  integer(c_int64_t), pointer, volatile :: mine(:)

  call start(64)
  call c_f_pointer(transfer(addr(me), c_null_ptr), mine, [8])
  mine = 0
  call armci_barrier()
  call operations()
  call events()
  call batch()
  call values()
  call own_memory()
  call plain()
  call nodes()
  call finish('atomics')

contains

  subroutine operations()
    integer(c_int64_t) :: old
    integer(c_int32_t) :: small
    integer :: i
    do i = 1, 100
      call check(armcix_atomic(armcix_add, 8, remote=addr(0), operand=3_c_int64_t, proc=0), &
        'a sum without the old value')
      call check(armcix_atomic(armcix_add, 4, small, addr(0) + 8, 1_c_int32_t, proc=0), 'a sum')
      call true(small >= 0 .and. small < 100 * np, 'the old value')
    end do
    call check(armcix_atomic(armcix_or, 8, old, addr(0) + 16, ibset(0_c_int64_t, me + 32), &
      proc=0), 'or')
    ! One rank finds 0 and stores its own number + 1.
    call check(armcix_atomic(armcix_cas, 8, old, addr(0) + 24, me + 1_c_int64_t, 0_c_int64_t, 0), &
      'compare and swap')
    call armci_barrier()
    if (me == 0) then
      call equal(mine(1), 300_c_int64_t * np, 'the sum')
      call equal(mine(2), 100_c_int64_t * np, 'the sum of 4 bytes')
      call equal(mine(3), (2_c_int64_t**np - 1) * 2_c_int64_t**32, 'the bits of all ranks')
      call true(mine(4) >= 1 .and. mine(4) <= np, 'the winner')
    end if
    if (old == 0) old = me + 1
    call equal(old, armci_getvaluelong(addr(0) + 24, 0), 'what the others found')
    call armci_barrier()
  end subroutine operations

  ! The left neighbour stores, then raises the event; its count makes the store visible.
  subroutine events()
    type(armcix_event_t), pointer, volatile :: event
    call c_f_pointer(transfer(addr(me) + 56, c_null_ptr), event)
    call equal(armcix_event_wait(addr(me) + 56, 0, 0), 1, 'a wait that is over')
    call armci_barrier()
    call check(armci_putvalue(5000_c_long + me, addr(right) + 48, right), 'armci_putvalue')
    call check(armcix_event_add(addr(right) + 56, 2, right), 'armcix_event_add')
    call check(armcix_event_wait(addr(me) + 56, 0, 60000), 'armcix_event_wait')
    call equal(event%count, 2, 'the count')
    call equal(mine(7), 5000_c_int64_t + left, 'what came before the event')
    call armcix_progress()
    call armci_barrier()
  end subroutine events

  subroutine batch()
    type(armci_group) :: world
    type(c_ptr) :: mutexes
    integer :: i
    call armci_group_get_world(world)
    mutexes = armcix_create_mutexes_hdl(1, world)
    call true(c_associated(mutexes), 'armcix_create_mutexes_hdl')
    do i = 1, 50
      call armcix_lock_hdl(mutexes, 0, np - 1)
      call check(armci_putvalue(armci_getvaluelong(addr(0) + 40, 0) + 1, addr(0) + 40, 0), &
        'armci_putvalue')
      call armci_fence(0)
      call armcix_unlock_hdl(mutexes, 0, np - 1)
    end do
    call armci_barrier()
    call equal(armci_getvaluelong(addr(0) + 40, 0), 50_c_long * np, 'the guarded number')
    if (me == 0) call check(armcix_trylock_hdl(mutexes, 0, np - 1), 'armcix_trylock_hdl')
    call armci_barrier()
    if (me /= 0) &
      call equal(armcix_trylock_hdl(mutexes, 0, np - 1), 1, 'armcix_trylock_hdl of another')
    call armci_barrier()
    if (me == 0) call armcix_unlock_hdl(mutexes, 0, np - 1)
    call check(armcix_destroy_mutexes_hdl(mutexes), 'armcix_destroy_mutexes_hdl')
  end subroutine batch

  subroutine values()
    type(armci_hdl_t) :: handle
    call armci_init_handle(handle)
    call check(armci_nbputvalue(7_c_int + me, addr(right), right, handle), 'armci_nbputvalueint')
    call check(armci_nbputvalue(0.5_c_float, addr(right) + 8, right, handle), &
      'armci_nbputvaluefloat')
    call check(armci_wait(handle), 'armci_wait')
    call check(armci_nbputvalue(2.0_c_double**70, addr(right) + 16, right), &
      'armci_nbputvaluedouble')
    call check(armci_nbputvalue(2_c_long**40 + me, addr(right) + 24, right), 'armci_nbputvaluelong')
    call check(armci_waitall(), 'armci_waitall')
    call armci_barrier()
    call equal(armci_getvalueint(addr(me), me), 7 + left, 'armci_nbputvalueint')
    call equal(real(armci_getvaluefloat(addr(me) + 8, me), c_double), 0.5d0, &
      'armci_nbputvaluefloat')
    call equal(armci_getvaluedouble(addr(me) + 16, me), 2.0d0**70, 'armci_nbputvaluedouble')
    call equal(mine(4), 2_c_long**40 + left, 'armci_nbputvaluelong')
  end subroutine values

  ! Memory that rank 0 makes alone and tells the others of.
  subroutine own_memory()
    type(armci_meminfo_t) :: about
    integer(armci_addr) :: at
    if (me == 0) call armci_memget(int(8 * np, c_size_t), about, 0)
    call armci_msg_bcast(about, int(c_sizeof(about), c_int), 0)
    call equal(about%cpid, 0, 'cpid')
    call true(about%size >= 8 * np, 'size')
    at = armci_memat(about, 0_c_long)
    call check(armci_putvalue(10_c_long * me, at + 8 * me, about%cpid), 'armci_putvalue')
    call armci_barrier()
    call equal(armci_getvaluelong(at + 8 * right, about%cpid), 10_c_long * right, &
      'memory of armci_memget')
    call armci_memdt(about, 0_c_long)
    call armci_barrier()
    call armci_memctl(about)
    call equal(armci_memat(about, 0_c_long), 0_c_long, 'armci_memat of what was given up')
  end subroutine own_memory

  subroutine plain()
    integer(armci_addr) :: part(0:np - 1)
    integer(c_int) :: from(3), to(3)
    type(c_ptr) :: room
    integer(c_int), pointer :: local(:)
    call check(armci_malloc_memdev(part, 8_c_long, 'rdma-atomics' // c_null_char), &
      'armci_malloc_memdev')
    call check(armci_free_memdev(part(me)), 'armci_free_memdev')
    room = armci_malloc_local(12_c_long)
    call c_f_pointer(room, local, [3])
    from = [1, 2, 3]
    call armci_copy(from, local, 12)
    call armci_copy(local, to, 12)
    call true(all(to == from), 'armci_copy')
    call check(armci_free_local(room), 'armci_free_local')
    call armci_access_begin(addr(me))
    mine(1) = 1
    call armci_access_end(addr(me))
    call armci_set_shm_limit(1000000_c_long)
    call equal(armci_initialized(), 1, 'armci_initialized')
  end subroutine plain

  ! Domains count to all ranks and agree with themselves.
  subroutine nodes()
    integer(c_int) :: id, i, sum
    sum = 0
    do id = 0, armci_domain_count(armci_domain_smp) - 1
      do i = 0, armci_domain_nprocs(armci_domain_smp, id) - 1
        call equal(armci_domain_id(armci_domain_smp, &
          armci_domain_glob_proc_id(armci_domain_smp, id, i)), id, 'a domain')
        sum = sum + 1
      end do
    end do
    call equal(sum, np, 'the ranks of all domains')
    call equal(armci_domain_id(armci_domain_smp, me), armci_domain_my_id(armci_domain_smp), &
      'the own domain')
    call equal(armci_domain_same_id(armci_domain_smp, me), 1, 'armci_domain_same_id')
    call equal(armci_sameclusnode(right), armci_same_node(right), 'armci_sameclusnode')
  end subroutine nodes
end program atomics
