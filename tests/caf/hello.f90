! SPDX-License-Identifier: BSD-3-Clause
! A first program with coarrays: numbers of images, a put, a get and their order by sync all. Each
! image writes to its right neighbour, then reads from its left one.
program hello
  implicit none
  integer :: from_left[*], own(4)[*], got(4)
  integer :: me, n, left, right, i

  me = this_image()
  n = num_images()
  if (me < 1 .or. me > n) error stop "this_image is outside 1 .. num_images"
  left = merge(n, me - 1, me == 1)
  right = merge(1, me + 1, me == n)

  own = [(10*me + i, i=1, 4)]
  from_left[right] = me
  sync all
  if (from_left /= left) error stop "a put did not arrive"
  got(:) = own(:)[left]
  if (any(got /= [(10*left + i, i=1, 4)])) error stop "a get brought something else"
  if (own(3)[right] /= 10*right + 3) error stop "an element is wrong"
  sync all
  if (me == 1) print '(a)', "ok hello"
end program hello
