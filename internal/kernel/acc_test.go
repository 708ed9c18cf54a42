// acc_test.go: accumulate against the oracle, and under contention.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

var accTypes = []Type{Int, Long, Float, Double, Complex, DoubleComplex}

// newStripes makes locks in this process: few, so that stripes are shared by addresses.
func newStripes(owner uint32) Stripes {
	words := make([]uint32, 4*16)
	return Stripes{Word: unsafe.Pointer(&words[0]), Mask: 3, PitchWords: 16, Owner: owner}
}

func f32(b []byte) float32       { return math.Float32frombits(binary.NativeEndian.Uint32(b)) }
func f64(b []byte) float64       { return math.Float64frombits(binary.NativeEndian.Uint64(b)) }
func setF32(b []byte, x float32) { binary.NativeEndian.PutUint32(b, math.Float32bits(x)) }
func setF64(b []byte, x float64) { binary.NativeEndian.PutUint64(b, math.Float64bits(x)) }

// addOne is the oracle: one element at d += scale * the one at s, every operation rounded by
// itself.
func addOne(t Type, scale, d, s []byte) {
	e := binary.NativeEndian
	switch t {
	case Int:
		e.PutUint32(d, e.Uint32(d)+e.Uint32(scale)*e.Uint32(s))
	case Long:
		e.PutUint64(d, e.Uint64(d)+e.Uint64(scale)*e.Uint64(s))
	case Float:
		setF32(d, f32(d)+float32(f32(scale)*f32(s)))
	case Double:
		setF64(d, f64(d)+float64(f64(scale)*f64(s)))
	case Complex:
		a, b, x, y := f32(scale), f32(scale[4:]), f32(s), f32(s[4:])
		setF32(d, f32(d)+float32(float32(a*x)-float32(b*y)))
		setF32(d[4:], f32(d[4:])+float32(float32(a*y)+float32(b*x)))
	case DoubleComplex:
		a, b, x, y := f64(scale), f64(scale[8:]), f64(s), f64(s[8:])
		setF64(d, f64(d)+float64(float64(a*x)-float64(b*y)))
		setF64(d[8:], f64(d[8:])+float64(float64(a*y)+float64(b*x)))
	}
}

// numbers fills memory with values of a type that are finite and not round; from k on so that any
// element starts there.
func numbers(t Type, b []byte, k int, r *rand.Rand) {
	size := TypeSize(t)
	for i := k % size; i+size <= len(b); i += size {
		number(t, b[i:], r)
	}
}

// number stores a random element of a type.
func number(t Type, b []byte, r *rand.Rand) {
	switch t {
	case Int:
		binary.NativeEndian.PutUint32(b, r.Uint32())
	case Long:
		binary.NativeEndian.PutUint64(b, r.Uint64())
	case Float:
		setF32(b, r.Float32()-0.5)
	case Double:
		setF64(b, r.Float64()-0.5)
	case Complex:
		setF32(b, r.Float32()-0.5)
		setF32(b[4:], r.Float32()-0.5)
	case DoubleComplex:
		setF64(b, r.Float64()-0.5)
		setF64(b[8:], r.Float64()-0.5)
	}
}

// one gives the scale 1 of a type.
func one(t Type) []byte {
	b := make([]byte, 16)
	switch t {
	case Int, Long:
		b[0] = 1 // little endian, as all machines we build for
	case Float, Complex:
		setF32(b, 1)
	default:
		setF64(b, 1)
	}
	return b
}

func scaleFor(t Type, k int, r *rand.Rand) []byte {
	if k%2 == 0 {
		return one(t)
	}
	b := make([]byte, 16)
	number(t, b, r)
	return b
}

// TestTypeOfAcc shows which codes of operations name an accumulate, and the sizes of its types.
func TestTypeOfAcc(t *testing.T) {
	want := map[int]Type{
		37: Int, 38: Double, 39: Float, 40: Complex, 41: DoubleComplex, 42: Long,
		0: Int, 1: Long, 2: Float, 3: Double, 4: Complex, 5: DoubleComplex,
	}
	for op := -10; op < 60; op++ {
		w, known := want[op]
		if got, ok := TypeOfAcc(op); ok != known || ok && got != w {
			t.Errorf("code %d: type %d %v, want %d %v", op, got, ok, w, known)
		}
	}
	for typ, size := range map[Type]int{Int: 4, Long: 8, Float: 4, Double: 8, Complex: 8,
		DoubleComplex: 16, LongLong: 8, -1: 0, 7: 0} {
		if got := TypeSize(typ); got != size {
			t.Errorf("type %d: size %d, want %d", typ, got, size)
		}
	}
}

// Every type, aligned and not, from one element to several stripes.
func TestAcc(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	st := newStripes(1)
	for k := 0; k < 600; k++ {
		typ := accTypes[k%6]
		size := TypeSize(typ)
		n := []int{0, 1, 2, 3, 15, 100, 513, 9000}[k/6%8]
		dst, src, off := make([]byte, n*size+64), make([]byte, n*size+64), r.Intn(32)
		numbers(typ, dst, off, r)
		numbers(typ, src, off, r)
		scale := scaleFor(typ, k/48, r)
		want := append([]byte(nil), dst...)
		for i := 0; i < n; i++ {
			addOne(typ, scale, want[off+i*size:], src[off+i*size:])
		}
		raw := append([]byte(nil), dst...)
		Acc(st, typ, at(scale, 0), at(dst, off), at(src, off), n*size)
		same(t, fmt.Sprintf("Acc of %d elements of type %d", n, typ), dst, want)
		AccRaw(typ, at(scale, 0), at(raw, off), at(src, off), n*size)
		same(t, fmt.Sprintf("AccRaw of %d elements of type %d", n, typ), raw, want)
	}
}

// A place may be added to itself.
func TestAccSameAddress(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	scale := 3.0
	Acc(newStripes(1), Double, unsafe.Pointer(&scale), unsafe.Pointer(&x[0]),
		unsafe.Pointer(&x[0]), 8*len(x))
	for i := range x {
		if x[i] != 4*float64(i+1) {
			t.Fatalf("element %d is %g", i, x[i])
		}
	}
}

// FuzzAccStrided compares strided accumulates of all types with a plain loop.
func FuzzAccStrided(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := source(in)
		typ := accTypes[s.next()%6]
		r := rand.New(rand.NewSource(int64(s.next())))
		scale := scaleFor(typ, s.next(), r)
		size := TypeSize(typ)
		st := newStripes(7)
		if s.next()%4 == 0 {
			st = Stripes{}
		}
		count := s.counts(int32(size))
		from, to := shape{s.strides(count), count}, shape{s.strides(count), count}
		for i := range from.stride {
			// whole elements apart, so that overlapping rows share elements
			from.stride[i] -= from.stride[i] % int32(size)
			to.stride[i] -= to.stride[i] % int32(size)
		}
		src, sbase := room(from, 1)
		dst, dbase := room(to, 2)
		numbers(typ, src, sbase, r)
		numbers(typ, dst, dbase, r)
		want := append([]byte(nil), dst...)
		toOffs := to.offsets()
		for i, o := range from.offsets() {
			for e := 0; e < int(count[0]); e += size {
				addOne(typ, scale, want[dbase+int(toOffs[i])+e:],
					src[sbase+int(o)+e:])
			}
		}
		AccStrided(st, typ, at(scale, 0), at(src, sbase), from.stride, at(dst, dbase),
			to.stride, count)
		same(t, "destination", dst, want)
	})
}

// FuzzAccVector compares vector accumulates of all types with a plain loop.
func FuzzAccVector(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := source(in)
		typ := accTypes[s.next()%6]
		r := rand.New(rand.NewSource(int64(s.next())))
		scale, size := scaleFor(typ, s.next(), r), TypeSize(typ)
		nelem, n := s.next()%40, s.next()%30
		src, dst := make([]byte, 8192), make([]byte, 8192)
		numbers(typ, src, 0, r)
		numbers(typ, dst, 0, r)
		want := append([]byte(nil), dst...)
		var from, to []uintptr
		for i := 0; i < n; i++ {
			a, b := size*(s.next()+40), size*(s.next()+100)
			for e := 0; e < nelem*size; e += size {
				addOne(typ, scale, want[b+e:], src[a+e:])
			}
			from, to = append(from, uintptr(at(src, a))),
				append(to, uintptr(at(dst, b)))
		}
		AccVector(newStripes(3), typ, at(scale, 0), from, to, nelem*size)
		same(t, "destination", dst, want)
	})
}

// Many threads add to one array, whole, by rows and by single elements, at an address where
// elements straddle stripes.
func TestAccContended(t *testing.T) {
	const workers, rounds, n = 8, 60, 2000
	for _, typ := range accTypes {
		size := TypeSize(typ)
		mem := acrossStripes(n*size + 64)
		src := make([]byte, n*size)
		for i := 0; i < n; i++ {
			copy(src[i*size:], one(typ)[:size])
		}
		scale, st := one(typ), newStripes(0)
		dst := at(mem, 4)
		var wg sync.WaitGroup
		for w := 0; w < workers; w++ {
			mine := st
			mine.Owner = uint32(w + 1)
			wg.Go(func() {
				for i := 0; i < rounds; i++ {
					Acc(mine, typ, at(scale, 0), dst, at(src, 0), n*size)
					for k := 0; k < 10; k++ {
						Acc(mine, typ, at(scale, 0),
							unsafe.Add(dst, k*100*size), at(src, 0),
							size)
					}
					row := int32(20 * size)
					AccStrided(mine, typ, at(scale, 0), at(src, 0),
						[]int32{row}, dst, []int32{2 * row},
						[]int32{row, n / 40})
				}
			})
		}
		wg.Wait()
		want := make([]byte, n*size+64)
		for i := 0; i < n; i++ {
			times := workers * rounds
			if i%100 == 0 && i < 1000 {
				times += workers * rounds
			}
			if i/20%2 == 0 {
				times += workers * rounds
			}
			for ; times > 0; times-- {
				addOne(typ, scale, want[4+i*size:], src)
			}
		}
		same(t, fmt.Sprintf("sums of type %d", typ), mem, want)
	}
}

// A lock held for long is waited for, and free afterwards.
func TestAccWaits(t *testing.T) {
	st := newStripes(2)
	x, y, scale := 1.0, 2.0, 1.0
	words := unsafe.Slice((*uint32)(st.Word), 4*16)
	for i := 0; i < 4; i++ {
		words[i*16] = 9 // somebody else
	}
	done := make(chan struct{})
	go func() {
		Acc(st, Double, unsafe.Pointer(&scale), unsafe.Pointer(&x), unsafe.Pointer(&y), 8)
		close(done)
	}()
	select {
	case <-done:
		t.Fatal("went through a taken lock")
	case <-time.After(20 * time.Millisecond):
	}
	for i := 0; i < 4; i++ {
		atomic.StoreUint32(&words[i*16], 0)
	}
	<-done
	for i := 0; i < 4; i++ {
		if words[i*16] != 0 {
			t.Errorf("lock %d is %d, want free", i, words[i*16])
		}
	}
	if x != 3 {
		t.Errorf("sum %g, want 3", x)
	}
}

// TestAccBesideDevices shows that no addition is lost between processors and devices, which take
// the same locks by a word of their own.
func TestAccBesideDevices(t *testing.T) {
	const workers, rounds = 4, 3000
	st := newStripes(1)
	st.Mask, st.Device = 0, true // one lock
	x, y, scale := 0.0, 1.0, 1.0
	word := (*uint32)(st.Word)
	device := (*uint64)(unsafe.Add(st.Word, DeviceWord))
	var wg sync.WaitGroup
	for w := range workers {
		mine := st
		mine.Owner = uint32(w + 1)
		wg.Go(func() {
			for range rounds {
				Acc(mine, Double, unsafe.Pointer(&scale), unsafe.Pointer(&x),
					unsafe.Pointer(&y), 8)
			}
		})
		wg.Go(func() {
			for range rounds {
				for !atomic.CompareAndSwapUint64(device, 0, uint64(w+1)) {
					runtime.Gosched()
				}
				for atomic.LoadUint32(word) != 0 {
					runtime.Gosched()
				}
				x++
				atomic.StoreUint64(device, 0)
			}
		})
	}
	wg.Wait()
	if x != 2*workers*rounds {
		t.Errorf("sum %g, want %d", x, 2*workers*rounds)
	}
	if *word != 0 || *device != 0 {
		t.Errorf("locks %d, %d, want both free", *word, *device)
	}
}

// TestAccGivesWayToDevice shows that a processor that finds a device in a stripe does not delay it.
func TestAccGivesWayToDevice(t *testing.T) {
	st := newStripes(1)
	st.Mask, st.Device = 0, true // one lock
	x, y, scale := 1.0, 2.0, 1.0
	device := (*uint64)(unsafe.Add(st.Word, DeviceWord))
	*device = 7
	done := make(chan struct{})
	go func() {
		Acc(st, Double, unsafe.Pointer(&scale), unsafe.Pointer(&x), unsafe.Pointer(&y), 8)
		close(done)
	}()
	time.Sleep(20 * time.Millisecond)
	if w := atomic.LoadUint32((*uint32)(st.Word)); w != 0 {
		t.Errorf("the lock is kept by %d", w)
	}
	select {
	case <-done:
		t.Fatal("went through a device's lock")
	default:
	}
	atomic.StoreUint64(device, 0)
	<-done
	if x != 3 {
		t.Errorf("sum %g, want 3", x)
	}
}
