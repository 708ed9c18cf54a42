// SPDX-License-Identifier: BSD-3-Clause

// Tests of what becomes of a panic in a goroutine.

package log

import (
	"runtime"
	"testing"
)

// TestGuard shows that a panic of a goroutine is passed to the function of OnPanic.
func TestGuard(t *testing.T) {
	defer onPanic.Store(nil)
	told := make(chan any, 1)
	OnPanic(func(v any) {
		told <- v
		runtime.Goexit()
	})
	go func() {
		defer Guard()
		panic("mistake")
	}()
	if v := <-told; v != "mistake" {
		t.Errorf("told %v", v)
	}
}

// TestGuardWithoutAnybodyToTell shows that a panic goes on if OnPanic was not called.
func TestGuardWithoutAnybodyToTell(t *testing.T) {
	defer func() {
		if v := recover(); v != "mistake" {
			t.Errorf("the panic became %v", v)
		}
	}()
	func() {
		defer Guard()
	}()
	func() {
		defer Guard()
		panic("mistake")
	}()
}
