// Package blobtest has a store with S3's interface for tests.
package blobtest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/millstream-io/millstream/internal/blob"
)

// Server is a store in memory, over HTTP on this machine.
type Server struct {
	URL string
	// Requests counts them, Delay is that of each in nanoseconds, Fail may
	// answer one in the store's place.
	Requests, Delay atomic.Int64
	Fail            atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
}

// Bucket is the one that the server has.
const Bucket = "bucket"

// New starts a server, and sets credentials for it. The test must not be parallel
// to others.
func New(t testing.TB) *Server {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test-key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret-4711")
	t.Setenv("AWS_REGION", "us-east-1")
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend).Server()
	s := &Server{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Requests.Add(1)
		time.Sleep(time.Duration(s.Delay.Load()))
		if f := s.Fail.Load(); f != nil && (*f)(w, r) {
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Store opens a directory of the server's bucket.
func (s *Server) Store(t testing.TB, prefix string) blob.Store {
	t.Helper()
	store, err := blob.Open("s3://"+Bucket+"/"+prefix, blob.Options{Endpoint: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return store
}
