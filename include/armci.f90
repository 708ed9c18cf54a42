! SPDX-License-Identifier: BSD-3-Clause
!
! armci.f90: the Fortran interface of libarmci. It must hold constants and interfaces only, never code: `use armci`
! needs armci.mod at compile time and -larmci at link time, and no object file. Meaning, completion, scope, thread rule
! and errors of every procedure are those of the C function of the same name, documented in armci.h and message.h.
!
! How C becomes Fortran here
!   remote address   integer(armci_addr), counting bytes: element i of 8-byte numbers is addr + 8 * (i - 1). It is
!                    what armci_malloc gives. Own (or any node-local) memory becomes an array by
!                    call c_f_pointer(transfer(addr, c_null_ptr), array, [n]).
!   local buffer     any contiguous variable, array or array element of any type; its address is taken. A buffer of a
!                    nonblocking call should have the asynchronous or target attribute until armci_wait. Do not pass
!                    a type(c_ptr) (its own address would be taken) nor an array section with gaps.
!   sizes            bytes, as in C: storage_size(x) / 8 for one element. Strides in bytes, count(1) in bytes.
!   ranks            from 0, as in C.
!   literals         8_c_int, 800_c_long (allocation sizes are c_long).
!   int, long        integer(c_int), integer(c_long), whatever the default integer of the program is.
!   int functions    functions that return 0 for success; void functions are subroutines.
!   text             ends in c_null_char; the operators of reductions are the constants armci_op_*.
!
! The module is for the classic ABI (libarmci.so.0). The rare rest of the interface (vector calls, messages within
! scopes, procedure calls) can be declared in the same way with bind(c). The file is long only because Fortran spells
! out every argument.
module armci
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_intptr_t, c_long, c_null_char, c_ptr
  implicit none
  private :: c_char, c_double, c_float, c_int, c_intptr_t, c_long, c_null_char, c_ptr

  ! Kind of a remote address.
  integer, parameter :: armci_addr = c_intptr_t

  ! Operations of armci_rmw; element types of accumulate; limits; domain; return codes. Values as in armci.h.
  integer(c_int), parameter :: armci_swap = 10_c_int
  integer(c_int), parameter :: armci_swap_long = 11_c_int
  integer(c_int), parameter :: armci_fetch_and_add = 12_c_int
  integer(c_int), parameter :: armci_fetch_and_add_long = 13_c_int
  integer(c_int), parameter :: armci_acc_int = 37_c_int
  integer(c_int), parameter :: armci_acc_dbl = 38_c_int
  integer(c_int), parameter :: armci_acc_flt = 39_c_int
  integer(c_int), parameter :: armci_acc_cpl = 40_c_int
  integer(c_int), parameter :: armci_acc_dcp = 41_c_int
  integer(c_int), parameter :: armci_acc_lng = 42_c_int
  integer(c_int), parameter :: armci_max_stride_level = 8_c_int
  integer(c_int), parameter :: armci_domain_smp = 0_c_int
  integer(c_int), parameter :: armci_fail = -1_c_int
  integer(c_int), parameter :: armci_fail2 = -2_c_int
  integer(c_int), parameter :: armci_fail3 = -3_c_int
  integer(c_int), parameter :: armci_fail4 = -4_c_int
  integer(c_int), parameter :: armci_fail5 = -5_c_int
  integer(c_int), parameter :: armci_fail6 = -6_c_int
  integer(c_int), parameter :: armci_fail7 = -7_c_int
  integer(c_int), parameter :: armci_fail8 = -8_c_int

  ! Operators of the reductions.
  character(kind=c_char, len=2), parameter :: armci_op_sum = '+' // c_null_char
  character(kind=c_char, len=2), parameter :: armci_op_prod = '*' // c_null_char
  character(kind=c_char, len=4), parameter :: armci_op_max = 'max' // c_null_char
  character(kind=c_char, len=4), parameter :: armci_op_min = 'min' // c_null_char
  character(kind=c_char, len=7), parameter :: armci_op_absmax = 'absmax' // c_null_char
  character(kind=c_char, len=7), parameter :: armci_op_absmin = 'absmin' // c_null_char
  character(kind=c_char, len=4), parameter :: armci_op_bor = 'bor' // c_null_char
  character(kind=c_char, len=5), parameter :: armci_op_band = 'band' // c_null_char
  character(kind=c_char, len=4), parameter :: armci_op_lor = 'lor' // c_null_char
  character(kind=c_char, len=5), parameter :: armci_op_land = 'land' // c_null_char

  ! Start and end. armci_error: msg is text, code the exit status of the job.
  interface
    function armci_init() bind(c, name='ARMCI_Init') result(res)
      import :: c_int
      integer(c_int) :: res
    end function armci_init
    function armci_initialized() bind(c, name='ARMCI_Initialized') result(res)
      import :: c_int
      integer(c_int) :: res
    end function armci_initialized
    function armci_finalize() bind(c, name='ARMCI_Finalize') result(res)
      import :: c_int
      integer(c_int) :: res
    end function armci_finalize
    subroutine armci_cleanup() bind(c, name='ARMCI_Cleanup')
    end subroutine armci_cleanup
    subroutine armci_error(msg, code) bind(c, name='ARMCI_Error')
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: msg(*)
      integer(c_int), value :: code
    end subroutine armci_error
  end interface

  ! Memory. addrs: one address per rank (or group rank); bytes: of the caller.
  interface
    function armci_malloc(addrs, bytes) bind(c, name='ARMCI_Malloc') result(res)
      import :: armci_addr, c_int, c_long
      integer(armci_addr), intent(out) :: addrs(*)
      integer(c_long), value :: bytes
      integer(c_int) :: res
    end function armci_malloc
    function armci_free(addr) bind(c, name='ARMCI_Free') result(res)
      import :: armci_addr, c_int
      integer(armci_addr), value :: addr
      integer(c_int) :: res
    end function armci_free
    function armci_malloc_group(addrs, bytes, group) bind(c, name='ARMCI_Malloc_group') result(res)
      import :: armci_addr, c_int, c_long
      integer(armci_addr), intent(out) :: addrs(*)
      integer(c_long), value :: bytes
      integer(c_int), intent(in) :: group
      integer(c_int) :: res
    end function armci_malloc_group
    function armci_free_group(addr, group) bind(c, name='ARMCI_Free_group') result(res)
      import :: armci_addr, c_int
      integer(armci_addr), value :: addr
      integer(c_int), intent(in) :: group
      integer(c_int) :: res
    end function armci_free_group
    function armci_malloc_local(bytes) bind(c, name='ARMCI_Malloc_local') result(res)
      import :: c_long, c_ptr
      integer(c_long), value :: bytes
      type(c_ptr) :: res
    end function armci_malloc_local
    function armci_free_local(ptr) bind(c, name='ARMCI_Free_local') result(res)
      import :: c_int, c_ptr
      type(c_ptr), value :: ptr
      integer(c_int) :: res
    end function armci_free_local
  end interface

  ! Blocking transfers: contiguous, and strided with levels strides and levels + 1 counts.
  interface
    function armci_put(src, dst, bytes, proc) bind(c, name='ARMCI_Put') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: src
      type(*), intent(in) :: src(*)
      integer(armci_addr), value :: dst
      integer(c_int), value :: bytes, proc
      integer(c_int) :: res
    end function armci_put
    function armci_get(src, dst, bytes, proc) bind(c, name='ARMCI_Get') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: dst
      integer(armci_addr), value :: src
      type(*), intent(inout) :: dst(*)
      integer(c_int), value :: bytes, proc
      integer(c_int) :: res
    end function armci_get
    function armci_acc(optype, scale, src, dst, bytes, proc) bind(c, name='ARMCI_Acc') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: scale, src
      integer(c_int), value :: optype, bytes, proc
      type(*), intent(in) :: scale(*), src(*)
      integer(armci_addr), value :: dst
      integer(c_int) :: res
    end function armci_acc
    function armci_puts(src, src_stride, dst, dst_stride, count, levels, proc) bind(c, name='ARMCI_PutS') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: src
      type(*), intent(in) :: src(*)
      integer(c_int), intent(in) :: src_stride(*), dst_stride(*), count(*)
      integer(armci_addr), value :: dst
      integer(c_int), value :: levels, proc
      integer(c_int) :: res
    end function armci_puts
    function armci_gets(src, src_stride, dst, dst_stride, count, levels, proc) bind(c, name='ARMCI_GetS') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: dst
      integer(armci_addr), value :: src
      integer(c_int), intent(in) :: src_stride(*), dst_stride(*), count(*)
      type(*), intent(inout) :: dst(*)
      integer(c_int), value :: levels, proc
      integer(c_int) :: res
    end function armci_gets
    function armci_accs(optype, scale, src, src_stride, dst, dst_stride, count, levels, proc) &
      bind(c, name='ARMCI_AccS') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: scale, src
      integer(c_int), value :: optype, levels, proc
      type(*), intent(in) :: scale(*), src(*)
      integer(c_int), intent(in) :: src_stride(*), dst_stride(*), count(*)
      integer(armci_addr), value :: dst
      integer(c_int) :: res
    end function armci_accs
    function armci_put_flag(src, dst, bytes, flag, val, proc) bind(c, name='ARMCI_Put_flag') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: src
      type(*), intent(in) :: src(*)
      integer(armci_addr), value :: dst, flag
      integer(c_int), value :: bytes, val, proc
      integer(c_int) :: res
    end function armci_put_flag
  end interface

  ! Nonblocking transfers. A handle is an integer(c_int); armci_wait completes it.
  interface
    function armci_nbput(src, dst, bytes, proc, handle) bind(c, name='ARMCI_NbPut') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: src
      type(*), intent(in), asynchronous :: src(*)
      integer(armci_addr), value :: dst
      integer(c_int), value :: bytes, proc
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_nbput
    function armci_nbget(src, dst, bytes, proc, handle) bind(c, name='ARMCI_NbGet') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: dst
      integer(armci_addr), value :: src
      type(*), intent(inout), asynchronous :: dst(*)
      integer(c_int), value :: bytes, proc
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_nbget
    function armci_nbacc(optype, scale, src, dst, bytes, proc, handle) bind(c, name='ARMCI_NbAcc') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: scale, src
      integer(c_int), value :: optype, bytes, proc
      type(*), intent(in) :: scale(*)
      type(*), intent(in), asynchronous :: src(*)
      integer(armci_addr), value :: dst
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_nbacc
    function armci_nbputs(src, src_stride, dst, dst_stride, count, levels, proc, handle) &
      bind(c, name='ARMCI_NbPutS') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: src
      type(*), intent(in), asynchronous :: src(*)
      integer(c_int), intent(in) :: src_stride(*), dst_stride(*), count(*)
      integer(armci_addr), value :: dst
      integer(c_int), value :: levels, proc
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_nbputs
    function armci_nbgets(src, src_stride, dst, dst_stride, count, levels, proc, handle) &
      bind(c, name='ARMCI_NbGetS') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: dst
      integer(armci_addr), value :: src
      integer(c_int), intent(in) :: src_stride(*), dst_stride(*), count(*)
      type(*), intent(inout), asynchronous :: dst(*)
      integer(c_int), value :: levels, proc
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_nbgets
    function armci_nbaccs(optype, scale, src, src_stride, dst, dst_stride, count, levels, proc, handle) &
      bind(c, name='ARMCI_NbAccS') result(res)
      import :: armci_addr, c_int
      !GCC$ attributes no_arg_check :: scale, src
      integer(c_int), value :: optype, levels, proc
      type(*), intent(in) :: scale(*)
      type(*), intent(in), asynchronous :: src(*)
      integer(c_int), intent(in) :: src_stride(*), dst_stride(*), count(*)
      integer(armci_addr), value :: dst
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_nbaccs
    subroutine armci_init_handle(handle) bind(c, name='ARMCI_INIT_HANDLE')
      import :: c_int
      integer(c_int), intent(out) :: handle
    end subroutine armci_init_handle
    subroutine armci_set_aggregate_handle(handle) bind(c, name='ARMCI_SET_AGGREGATE_HANDLE')
      import :: c_int
      integer(c_int), intent(inout) :: handle
    end subroutine armci_set_aggregate_handle
    subroutine armci_unset_aggregate_handle(handle) bind(c, name='ARMCI_UNSET_AGGREGATE_HANDLE')
      import :: c_int
      integer(c_int), intent(inout) :: handle
    end subroutine armci_unset_aggregate_handle
    function armci_wait(handle) bind(c, name='ARMCI_Wait') result(res)
      import :: c_int
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_wait
    function armci_test(handle) bind(c, name='ARMCI_Test') result(res)
      import :: c_int
      integer(c_int), intent(inout) :: handle
      integer(c_int) :: res
    end function armci_test
    function armci_waitproc(proc) bind(c, name='ARMCI_WaitProc') result(res)
      import :: c_int
      integer(c_int), value :: proc
      integer(c_int) :: res
    end function armci_waitproc
    function armci_waitall() bind(c, name='ARMCI_WaitAll') result(res)
      import :: c_int
      integer(c_int) :: res
    end function armci_waitall
  end interface

  ! Put one scalar by value.
  interface armci_putvalue
    function armci_putvalueint(src, dst, proc) bind(c, name='ARMCI_PutValueInt') result(res)
      import :: armci_addr, c_int
      integer(c_int), value :: src, proc
      integer(armci_addr), value :: dst
      integer(c_int) :: res
    end function armci_putvalueint
    function armci_putvaluelong(src, dst, proc) bind(c, name='ARMCI_PutValueLong') result(res)
      import :: armci_addr, c_int, c_long
      integer(c_long), value :: src
      integer(armci_addr), value :: dst
      integer(c_int), value :: proc
      integer(c_int) :: res
    end function armci_putvaluelong
    function armci_putvaluefloat(src, dst, proc) bind(c, name='ARMCI_PutValueFloat') result(res)
      import :: armci_addr, c_float, c_int
      real(c_float), value :: src
      integer(armci_addr), value :: dst
      integer(c_int), value :: proc
      integer(c_int) :: res
    end function armci_putvaluefloat
    function armci_putvaluedouble(src, dst, proc) bind(c, name='ARMCI_PutValueDouble') result(res)
      import :: armci_addr, c_double, c_int
      real(c_double), value :: src
      integer(armci_addr), value :: dst
      integer(c_int), value :: proc
      integer(c_int) :: res
    end function armci_putvaluedouble
  end interface

  ! Get one scalar.
  interface
    function armci_getvalueint(src, proc) bind(c, name='ARMCI_GetValueInt') result(res)
      import :: armci_addr, c_int
      integer(armci_addr), value :: src
      integer(c_int), value :: proc
      integer(c_int) :: res
    end function armci_getvalueint
    function armci_getvaluelong(src, proc) bind(c, name='ARMCI_GetValueLong') result(res)
      import :: armci_addr, c_int, c_long
      integer(armci_addr), value :: src
      integer(c_int), value :: proc
      integer(c_long) :: res
    end function armci_getvaluelong
    function armci_getvaluefloat(src, proc) bind(c, name='ARMCI_GetValueFloat') result(res)
      import :: armci_addr, c_float, c_int
      integer(armci_addr), value :: src
      integer(c_int), value :: proc
      real(c_float) :: res
    end function armci_getvaluefloat
    function armci_getvaluedouble(src, proc) bind(c, name='ARMCI_GetValueDouble') result(res)
      import :: armci_addr, c_double, c_int
      integer(armci_addr), value :: src
      integer(c_int), value :: proc
      real(c_double) :: res
    end function armci_getvaluedouble
  end interface

  ! Completion and order.
  interface
    subroutine armci_fence(proc) bind(c, name='ARMCI_Fence')
      import :: c_int
      integer(c_int), value :: proc
    end subroutine armci_fence
    subroutine armci_allfence() bind(c, name='ARMCI_AllFence')
    end subroutine armci_allfence
    subroutine armci_barrier() bind(c, name='ARMCI_Barrier')
    end subroutine armci_barrier
    function armci_notify(proc) bind(c, name='armci_notify') result(res)
      import :: c_int
      integer(c_int), value :: proc
      integer(c_int) :: res
    end function armci_notify
    function armci_notify_wait(proc, waited) bind(c, name='armci_notify_wait') result(res)
      import :: c_int
      integer(c_int), value :: proc
      integer(c_int), intent(out) :: waited
      integer(c_int) :: res
    end function armci_notify_wait
  end interface

  ! Read-modify-write. local: integer(c_int), or integer(c_long) with the _long operations.
  interface armci_rmw
    function armci_rmw_int(op, local, remote, extra, proc) bind(c, name='ARMCI_Rmw') result(res)
      import :: armci_addr, c_int
      integer(c_int), value :: op, extra, proc
      integer(c_int), intent(inout) :: local
      integer(armci_addr), value :: remote
      integer(c_int) :: res
    end function armci_rmw_int
    function armci_rmw_long(op, local, remote, extra, proc) bind(c, name='ARMCI_Rmw') result(res)
      import :: armci_addr, c_int, c_long
      integer(c_int), value :: op, extra, proc
      integer(c_long), intent(inout) :: local
      integer(armci_addr), value :: remote
      integer(c_int) :: res
    end function armci_rmw_long
  end interface

  ! Mutexes, numbered from 0 on each rank.
  interface
    function armci_create_mutexes(num) bind(c, name='ARMCI_Create_mutexes') result(res)
      import :: c_int
      integer(c_int), value :: num
      integer(c_int) :: res
    end function armci_create_mutexes
    function armci_destroy_mutexes() bind(c, name='ARMCI_Destroy_mutexes') result(res)
      import :: c_int
      integer(c_int) :: res
    end function armci_destroy_mutexes
    subroutine armci_lock(mutex, proc) bind(c, name='ARMCI_Lock')
      import :: c_int
      integer(c_int), value :: mutex, proc
    end subroutine armci_lock
    subroutine armci_unlock(mutex, proc) bind(c, name='ARMCI_Unlock')
      import :: c_int
      integer(c_int), value :: mutex, proc
    end subroutine armci_unlock
  end interface

  ! Groups: integer(c_int). pid_list: n ranks, ascending.
  interface
    subroutine armci_group_create(n, pid_list, group) bind(c, name='ARMCI_Group_create')
      import :: c_int
      integer(c_int), value :: n
      integer(c_int), intent(in) :: pid_list(*)
      integer(c_int), intent(out) :: group
    end subroutine armci_group_create
    subroutine armci_group_create_child(n, pid_list, group, parent) bind(c, name='ARMCI_Group_create_child')
      import :: c_int
      integer(c_int), value :: n
      integer(c_int), intent(in) :: pid_list(*), parent
      integer(c_int), intent(out) :: group
    end subroutine armci_group_create_child
    subroutine armci_group_free(group) bind(c, name='ARMCI_Group_free')
      import :: c_int
      integer(c_int), intent(inout) :: group
    end subroutine armci_group_free
    function armci_group_rank(group, rank) bind(c, name='ARMCI_Group_rank') result(res)
      import :: c_int
      integer(c_int), intent(in) :: group
      integer(c_int), intent(out) :: rank
      integer(c_int) :: res
    end function armci_group_rank
    subroutine armci_group_size(group, size) bind(c, name='ARMCI_Group_size')
      import :: c_int
      integer(c_int), intent(in) :: group
      integer(c_int), intent(out) :: size
    end subroutine armci_group_size
    subroutine armci_group_get_world(group) bind(c, name='ARMCI_Group_get_world')
      import :: c_int
      integer(c_int), intent(out) :: group
    end subroutine armci_group_get_world
    function armci_absolute_id(group, rank) bind(c, name='ARMCI_Absolute_id') result(res)
      import :: c_int
      integer(c_int), intent(in) :: group
      integer(c_int), value :: rank
      integer(c_int) :: res
    end function armci_absolute_id
    function armci_same_node(proc) bind(c, name='ARMCI_Same_node') result(res)
      import :: c_int
      integer(c_int), value :: proc
      integer(c_int) :: res
    end function armci_same_node
  end interface

  ! Messages. armci_msg_init(c_null_ptr, c_null_ptr): there is no argc in Fortran. Sizes in bytes.
  interface
    subroutine armci_msg_init(argc, argv) bind(c, name='armci_msg_init')
      import :: c_ptr
      type(c_ptr), value :: argc, argv
    end subroutine armci_msg_init
    subroutine armci_msg_finalize() bind(c, name='armci_msg_finalize')
    end subroutine armci_msg_finalize
    function armci_msg_me() bind(c, name='armci_msg_me') result(res)
      import :: c_int
      integer(c_int) :: res
    end function armci_msg_me
    function armci_msg_nproc() bind(c, name='armci_msg_nproc') result(res)
      import :: c_int
      integer(c_int) :: res
    end function armci_msg_nproc
    subroutine armci_msg_abort(code) bind(c, name='armci_msg_abort')
      import :: c_int
      integer(c_int), value :: code
    end subroutine armci_msg_abort
    subroutine armci_msg_barrier() bind(c, name='armci_msg_barrier')
    end subroutine armci_msg_barrier
    function armci_timer() bind(c, name='armci_timer') result(res)
      import :: c_double
      real(c_double) :: res
    end function armci_timer
    subroutine armci_msg_snd(tag, buffer, len, to) bind(c, name='armci_msg_snd')
      import :: c_int
      !GCC$ attributes no_arg_check :: buffer
      integer(c_int), value :: tag, len, to
      type(*), intent(in) :: buffer(*)
    end subroutine armci_msg_snd
    subroutine armci_msg_rcv(tag, buffer, buflen, msglen, from) bind(c, name='armci_msg_rcv')
      import :: c_int
      !GCC$ attributes no_arg_check :: buffer
      integer(c_int), value :: tag, buflen, from
      type(*), intent(inout) :: buffer(*)
      integer(c_int), intent(out) :: msglen
    end subroutine armci_msg_rcv
    function armci_msg_rcvany(tag, buffer, buflen, msglen) bind(c, name='armci_msg_rcvany') result(res)
      import :: c_int
      !GCC$ attributes no_arg_check :: buffer
      integer(c_int), value :: tag, buflen
      type(*), intent(inout) :: buffer(*)
      integer(c_int), intent(out) :: msglen
      integer(c_int) :: res
    end function armci_msg_rcvany
    subroutine armci_msg_bcast(buffer, len, root) bind(c, name='armci_msg_bcast')
      import :: c_int
      !GCC$ attributes no_arg_check :: buffer
      type(*), intent(inout) :: buffer(*)
      integer(c_int), value :: len, root
    end subroutine armci_msg_bcast
  end interface

  ! All-reduce of n elements in place; x: an array; op: armci_op_*.
  interface armci_msg_gop
    subroutine armci_msg_igop(x, n, op) bind(c, name='armci_msg_igop')
      import :: c_int
      !GCC$ attributes no_arg_check :: op
      integer(c_int), intent(inout) :: x(*)
      integer(c_int), value :: n
      type(*), intent(in) :: op(*)
    end subroutine armci_msg_igop
    subroutine armci_msg_lgop(x, n, op) bind(c, name='armci_msg_lgop')
      import :: c_int, c_long
      !GCC$ attributes no_arg_check :: op
      integer(c_long), intent(inout) :: x(*)
      integer(c_int), value :: n
      type(*), intent(in) :: op(*)
    end subroutine armci_msg_lgop
    subroutine armci_msg_fgop(x, n, op) bind(c, name='armci_msg_fgop')
      import :: c_float, c_int
      !GCC$ attributes no_arg_check :: op
      real(c_float), intent(inout) :: x(*)
      integer(c_int), value :: n
      type(*), intent(in) :: op(*)
    end subroutine armci_msg_fgop
    subroutine armci_msg_dgop(x, n, op) bind(c, name='armci_msg_dgop')
      import :: c_double, c_int
      !GCC$ attributes no_arg_check :: op
      real(c_double), intent(inout) :: x(*)
      integer(c_int), value :: n
      type(*), intent(in) :: op(*)
    end subroutine armci_msg_dgop
  end interface
end module armci
