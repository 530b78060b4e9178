package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/millstream-io/millstream/internal/blob"
	"github.com/millstream-io/millstream/internal/blob/blobtest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// stores are empty stores of each kind.
func stores(t *testing.T) map[string]blob.Store {
	return map[string]blob.Store{
		"dir in memory": blob.NewDir(vfs.NewMem(), "/a/b"),
		"dir":           blob.NewDir(vfs.OS(), filepath.Join(t.TempDir(), "x")),
		"mem":           blob.NewMem().Sub("p/q"),
		"s3":            blobtest.New(t).Store(t, "some/place"),
	}
}

// TestContract does with each kind of store what the contract says.
func TestContract(t *testing.T) {
	ctx := context.Background()
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			list := func(dir, want string) {
				t.Helper()
				infos, err := s.List(ctx, dir)
				must(err)
				got := ""
				for _, i := range infos {
					got += fmt.Sprintf("%s:%d ", i.Name, i.Size)
				}
				if got != want {
					t.Errorf("%q has %s, want %s", dir, got, want)
				}
			}
			list("", "")
			list("data", "")
			must(s.Put(ctx, "one", []byte("1")))
			must(s.Put(ctx, "one", []byte("one")))
			must(s.Put(ctx, "data/two", []byte("2")))
			must(s.Put(ctx, "data/empty", nil))
			must(s.Sub("data").Put(ctx, "deep/x", []byte("3")))
			list("", "data/:0 one:3 ")
			list("data", "deep/:0 empty:0 two:1 ")
			list("data/deep/", "x:1 ")
			data, err := s.Sub("data/deep").Get(ctx, "x")
			if must(err); string(data) != "3" {
				t.Errorf("got %q", data)
			}
			if _, err := s.Get(ctx, "data/none"); !vfs.IsNotExist(err) || !strings.Contains(err.Error(), s.Where("data/none")) {
				t.Errorf("a missing object: %v", err)
			}
			if _, err := s.Stat(ctx, "none"); !vfs.IsNotExist(err) {
				t.Errorf("the length of a missing object: %v", err)
			}
			if n, err := s.Stat(ctx, "one"); n != 3 || err != nil {
				t.Errorf("length %d, %v", n, err)
			}
			must(s.Remove(ctx, "one"))
			must(s.Remove(ctx, "one"))
			must(s.Remove(ctx, "no/such"))
			list("", "data/:0 ")
			files(t, s)
			creates(t, s)
		})
	}
}

// files stores files and reads parts of them.
func files(t *testing.T, s blob.Store) {
	ctx := context.Background()
	fsys := vfs.NewMem()
	text := bytes.Repeat([]byte("0123456789"), 100_000)
	if err := vfs.WriteFile(fsys, "/src", text); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(s.PutFile(ctx, "data/file", fsys, "/src"), s.Sync(ctx, "data")); err != nil {
			t.Fatal(err)
		}
	}
	p := make([]byte, 12345)
	for _, off := range []int64{0, 1, 77_777, int64(len(text) - len(p))} {
		if err := s.ReadAt(ctx, "data/file", p, off); err != nil || !bytes.Equal(p, text[off:off+int64(len(p))]) {
			t.Errorf("at %d: %v", off, err)
		}
	}
	if err := s.ReadAt(ctx, "data/file", p, int64(len(text)-10)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("behind the end: %v", err)
	}
	if err := s.ReadAt(ctx, "data/none", p, 0); !vfs.IsNotExist(err) {
		t.Errorf("a part of a missing object: %v", err)
	}
	if err := s.PutFile(ctx, "data/file", fsys, "/none"); !vfs.IsNotExist(err) {
		t.Errorf("a missing file was stored: %v", err)
	}
}

// creates lets many try to make one object.
func creates(t *testing.T, s blob.Store) {
	ctx := context.Background()
	var wg sync.WaitGroup
	won := make([]error, 8)
	for i := range won {
		wg.Go(func() { won[i] = s.Create(ctx, fmt.Sprintf("log/%d", i/4), []byte{byte(i)}) })
	}
	wg.Wait()
	winners := 0
	for i, err := range won {
		switch {
		case err == nil:
			winners++
			if err := s.Create(ctx, fmt.Sprintf("log/%d", i/4), []byte{byte(i)}); err != nil {
				t.Errorf("the winner asked again: %v", err)
			}
		case !errors.Is(err, blob.ErrExist):
			t.Error(err)
		}
	}
	if winners != 2 {
		t.Errorf("of 4 + 4 who tried, %d succeeded: %v", winners, won)
	}
	if err := s.Create(ctx, "log/0", []byte("other")); !errors.Is(err, blob.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
	infos, err := s.List(ctx, "log") // without what the losers had written
	if err != nil || len(infos) != 2 {
		t.Errorf("there are %v, %v", infos, err)
	}
}

func answer(code int, name, message string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(code)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", name, message)
		return true
	}
}

// TestErrors: what goes wrong says what to do, and never a secret.
func TestErrors(t *testing.T) {
	server := blobtest.New(t)
	ctx := context.Background()
	for want, f := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"create the bucket bucket at " + server.URL:            answer(404, "NoSuchBucket", "The specified bucket does not exist"),
		"s3:PutObject and s3:DeleteObject on s3://bucket/job/": answer(403, "AccessDenied", "Access Denied."),
		"does not accept the credentials":                      answer(403, "SignatureDoesNotMatch", "key test-key with test-secret-4711 is wrong"),
		"AWS_PROFILE":                                          answer(403, "InvalidAccessKeyId", "no such key"),
		"AWS_SESSION_TOKEN":                                    answer(400, "ExpiredTokenX", "expired"),
		"set s3.region":                                        answer(400, "AuthorizationHeaderMalformed", "wrong region"),
		"lacks an operation":                                   answer(501, "NotImplemented", "no"),
	} {
		server.Fail.Store(&f)
		err := server.Store(t, "job").Put(ctx, "x", []byte("x"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s3://bucket/job/x: cannot put: ") {
			t.Errorf("got %v, want %s", err, want)
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err.Error()), "4711") {
			t.Errorf("the secret is in %v", err)
		}
	}
	store, err := blob.Open("s3://bucket/x", blob.Options{Endpoint: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithCancel(ctx)
	cancel()
	if err := store.Put(short, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestRetry: a store that stumbles is asked again.
func TestRetry(t *testing.T) {
	server := blobtest.New(t)
	store := server.Store(t, "")
	n := 0
	stumble := func(w http.ResponseWriter, r *http.Request) bool {
		if n++; n%2 == 1 {
			return answer(503, "SlowDown", "later")(w, r)
		}
		return false
	}
	server.Fail.Store(&stumble)
	ctx := context.Background()
	if err := store.Put(ctx, "x", []byte("some text")); err != nil {
		t.Error(err)
	}
	p := make([]byte, 4)
	if err := store.ReadAt(ctx, "x", p, 5); err != nil || string(p) != "text" {
		t.Errorf("%q %v", p, err)
	}
}

func TestLocations(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, "")
	}
	file := filepath.Join(t.TempDir(), "credentials")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	refused := func(location string, o blob.Options, want string) {
		t.Helper()
		_, err := blob.Open(location, o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %s", location, err, want)
		}
	}
	refused("s3://bucket/x", blob.Options{}, "there are no credentials; set AWS_ACCESS_KEY_ID")
	if err := os.WriteFile(file, []byte("[default]\naws_access_key_id = a\naws_secret_access_key = b\n[work]\naws_access_key_id = c\naws_secret_access_key = d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_PROFILE", "work")
	store, err := blob.Open("s3a://bucket/x/y/", blob.Options{Endpoint: "localhost:9000", PathStyle: "true"})
	if err != nil {
		t.Fatal(err)
	}
	if got := store.Where("z"); got != "s3://bucket/x/y/z" {
		t.Errorf("it is %s", got)
	}
	refused("s3://key:hunter2@bucket/x", blob.Options{}, "credentials do not belong in an address")
	refused("s3:///x", blob.Options{}, "the name of the bucket is missing")
	refused("s3://bucket", blob.Options{Endpoint: "http://u:hunter2@host"}, "credentials do not belong in an address")
	refused("s3://bucket", blob.Options{Endpoint: "ftp://host"}, "must be an address such as")
	refused("s3://bucket", blob.Options{Endpoint: "http://host/path"}, "must not have a path")
	refused("s3://bucket", blob.Options{PathStyle: "yes"}, "must be true or false")
	refused("hdfs://u:hunter2@host/x", blob.Options{}, "there is no hdfs")
	refused("file://x", blob.Options{}, "file:///path")
	dir := t.TempDir()
	for _, location := range []string{dir, "file://" + dir} {
		store, err := blob.Open(location, blob.Options{})
		if err != nil || blob.Remote(location) || store.Where("x") != filepath.Join(dir, "x") {
			t.Errorf("%s: %v", location, err)
		}
	}
	if !blob.Remote("s3://bucket") {
		t.Error("s3 is not remote")
	}
}

// TestDirThatDisappears removes a directory that is in use: it is not made again.
func TestDirThatDisappears(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	store, ctx := blob.NewDir(vfs.OS(), path), context.Background()
	if err := store.Put(ctx, "a/b", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(ctx, "a/c", []byte("2")); !vfs.IsNotExist(err) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the directory was made again")
	}
}
