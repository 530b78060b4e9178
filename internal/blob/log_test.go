package blob_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/blob/blobtest"
)

// TestLog: of several writers only the last one goes on, however far behind the
// others are.
func TestLog(t *testing.T) {
	ctx := context.Background()
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			open := func(want string) *blob.Log {
				t.Helper()
				l, last, err := blob.OpenLog(ctx, s)
				if err != nil || string(last) != want {
					t.Fatalf("the last record is %q, want %q: %v", last, want, err)
				}
				return l
			}
			first, sleeper := open(""), open("")
			for i := range 3 {
				if err := first.Append(ctx, fmt.Append(nil, "first ", i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := sleeper.Append(ctx, []byte("sleeper")); !errors.Is(err, blob.ErrFenced) {
				t.Errorf("who slept appends: %v", err)
			}
			second := open("first 2")
			if err := second.Append(ctx, []byte("second")); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := first.Append(ctx, []byte("first again")); !errors.Is(err, blob.ErrFenced) {
					t.Errorf("who was taken over appends: %v", err)
				}
			}
			open("second")
			if infos, err := s.List(ctx, ""); err != nil || len(infos) != 1 {
				t.Errorf("there are %v, %v", infos, err)
			}
			race(t, s)
		})
	}
}

// race lets many append at once, each behind what it has read.
func race(t *testing.T, s blob.Store) {
	ctx := context.Background()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			l, last, err := blob.OpenLog(ctx, s)
			for n := 0; n < 5 && err == nil; {
				// Each record names the one before, so that a lost one shows.
				err = l.Append(ctx, fmt.Append(nil, len(last)+1, " of ", i, " ", string(last)))
				if err == nil {
					n++
				}
				if err == nil || errors.Is(err, blob.ErrFenced) {
					last, err = l.Refresh(ctx)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestNoConditions: a store that lets two make one object is refused.
func TestNoConditions(t *testing.T) {
	server := blobtest.New(t)
	careless := func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("If-None-Match")
		return false
	}
	server.Fail.Store(&careless)
	l, _, err := blob.OpenLog(context.Background(), server.Store(t, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(context.Background(), []byte("x")); !errors.Is(err, blob.ErrNoCondition) {
		t.Errorf("got %v", err)
	}
}
