! SPDX-License-Identifier: BSD-3-Clause
! SYNC ALL, SYNC IMAGES and SYNC MEMORY order what images do; wrong lists give a stat.
program sync
  implicit none
  integer :: a[*], me, n, i, s, right, left
  character(80) :: msg
  me = this_image(); n = num_images()
  right = mod(me, n) + 1
  left = mod(me + n - 2, n) + 1
  call everybody
  call neighbours
  call master
  call lists
  sync memory (stat=s)
  if (s /= 0) error stop 'sync memory'
  sync all
  if (me == 1) print '(a)', 'ok sync'
contains
  subroutine everybody
    do i = 1, 200
      a[right] = 1000 * i + me
      sync all (stat=s, errmsg=msg)
      if (s /= 0) error stop 'sync all'
      if (a /= 1000 * i + left) error stop 'sync all: old value'
      sync images (*)
    end do
  end subroutine

  subroutine neighbours
    do i = 1, 200
      a[right] = 2000 * i + me
      if (left == right) then
        sync images (left, stat=s)
      else
        sync images ([left, right], stat=s)
      end if
      if (s /= 0) error stop 'sync images'
      if (a /= 2000 * i + left) error stop 'sync images: old value'
      if (left == right) then
        sync images (left)
      else
        sync images ([right, left])
      end if
    end do
  end subroutine

  ! Image 1 waits for each other image, these only for image 1.
  subroutine master
    integer, allocatable :: from(:)[:]
    integer :: k
    allocate (from(n)[*], source=0)
    sync all
    do i = 1, 50
      from(me)[1] = i
      if (me == 1) then
        sync images (*)
        if (any([(from(k) /= i, k = 1, n)])) error stop 'image 1 is early'
        sync images (*)
      else
        sync images (1)
        sync images (1)
      end if
    end do
  end subroutine

  subroutine lists
    sync images ([me, me], stat=s, errmsg=msg)
    if (s <= 0 .or. index(msg, 'twice') == 0) error stop 'an image named twice'
    sync images (n + 1, stat=s, errmsg=msg)
    if (s <= 0 .or. index(msg, 'no image') == 0) error stop 'an image that is not there'
    i = 0
    sync images (i, stat=s)
    if (s <= 0) error stop 'image 0'
    sync images (me, stat=s)
    if (s /= 0) error stop 'itself'
    sync images ([integer ::], stat=s)
    if (s /= 0) error stop 'an empty list'
  end subroutine
end program
