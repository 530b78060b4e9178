package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/millstream-io/millstream/internal/vfs"
)

const (
	// requestTime bounds an operation, with its retries, and slowest is the
	// slowest transfer that is waited for, in bytes a second.
	requestTime = time.Minute
	slowest     = 256 << 10
	// retries is how often a request is tried.
	retries = 5
	// partSize is that of uploads of files that are longer.
	partSize = 32 << 20
)

// s3 is a bucket, or a part of one.
type s3 struct {
	client minio.Core
	// endpoint is for messages, hide are the credentials, which must not be in
	// any.
	endpoint string
	hide     []string
	bucket   string
	prefix   string
}

// limit bounds the time of an operation that moves size bytes.
func limit(ctx context.Context, size int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, requestTime+time.Duration(size/slowest)*time.Second)
}

// Put implements Store.
func (s *s3) Put(ctx context.Context, name string, data []byte) error {
	return s.put(ctx, "put", name, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{})
}

func (s *s3) put(ctx context.Context, op, name string, r io.Reader, size int64, o minio.PutObjectOptions) error {
	ctx, cancel := limit(ctx, size)
	defer cancel()
	o.PartSize, o.NumThreads, o.ContentType = partSize, 2, "application/octet-stream"
	// A signature of the content in parts would give an empty one a length.
	o.DisableContentSha256 = size == 0
	_, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+name, r, size, o)
	return s.explain(op, name, err)
}

// Create implements Store.
func (s *s3) Create(ctx context.Context, name string, data []byte) error {
	var o minio.PutObjectOptions
	o.SetMatchETagExcept("*")
	err := s.put(ctx, "create", name, bytes.NewReader(data), int64(len(data)), o)
	if !errors.Is(err, ErrExist) {
		return err
	}
	if have, gerr := s.Get(ctx, name); gerr == nil && bytes.Equal(have, data) {
		return nil
	}
	return err
}

// PutFile implements Store.
func (s *s3) PutFile(ctx context.Context, name string, fsys vfs.FS, path string) error {
	f, err := fsys.Open(path, vfs.SequentialReads)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = s.put(ctx, "put", name, io.NewSectionReader(f, 0, info.Size()), info.Size(), minio.PutObjectOptions{})
	}
	return errors.Join(err, f.Close())
}

// Sync implements Store.
func (s *s3) Sync(context.Context, string) error { return nil }

// Get implements Store.
func (s *s3) Get(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := limit(ctx, 64<<20)
	defer cancel()
	body, _, _, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.explain("get", name, err)
	}
	data, err := io.ReadAll(body)
	return data, s.explain("get", name, errors.Join(err, body.Close()))
}

// ReadAt implements Store. What the network loses on the way is asked for again.
func (s *s3) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	ctx, cancel := limit(ctx, int64(len(p)))
	defer cancel()
	var err error
	for range retries {
		var again bool
		if again, err = s.readAt(ctx, name, p, off); !again || ctx.Err() != nil {
			break
		}
	}
	return s.explain("get", name, err)
}

func (s *s3) readAt(ctx context.Context, name string, p []byte, off int64) (again bool, err error) {
	var o minio.GetObjectOptions
	if err := o.SetRange(off, off+int64(len(p))-1); err != nil {
		return false, err
	}
	body, _, _, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, o)
	if err != nil {
		return false, err
	}
	n, err := io.ReadFull(body, p)
	if cerr := body.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		err = fmt.Errorf("%d bytes at %d: %w after %d", len(p), off, io.ErrUnexpectedEOF, n)
	}
	return err != nil, err
}

// Stat implements Store.
func (s *s3) Stat(ctx context.Context, name string) (int64, error) {
	ctx, cancel := limit(ctx, 0)
	defer cancel()
	info, err := s.client.StatObject(ctx, s.bucket, s.prefix+name, minio.StatObjectOptions{})
	return info.Size, s.explain("stat", name, err)
}

// List implements Store.
func (s *s3) List(ctx context.Context, dir string) ([]Info, error) {
	ctx, cancel := limit(ctx, 0)
	defer cancel()
	prefix := s.prefix + asPrefix(dir)
	var out []Info
	for o := range s.client.Client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix}) {
		if o.Err != nil {
			return nil, s.explain("list", dir, o.Err)
		}
		if name := strings.TrimPrefix(o.Key, prefix); name != "" {
			out = append(out, Info{name, o.Size})
		}
	}
	slices.SortFunc(out, byName)
	return out, s.explain("list", dir, ctx.Err())
}

// Remove implements Store.
func (s *s3) Remove(ctx context.Context, name string) error {
	ctx, cancel := limit(ctx, 0)
	defer cancel()
	err := s.explain("remove", name, s.client.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{}))
	if vfs.IsNotExist(err) {
		return nil
	}
	return err
}

// Where implements Store.
func (s *s3) Where(name string) string { return "s3://" + s.bucket + "/" + s.prefix + name }

// Sub implements Store.
func (s *s3) Sub(dir string) Store {
	sub := *s
	sub.prefix += asPrefix(dir)
	return &sub
}

// File implements Store.
func (s *s3) File(string) (vfs.FS, string, bool) { return nil, "", false }

// explain says what a failure means and what to do, and hides credentials.
func (s *s3) explain(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var r minio.ErrorResponse
	where := s.Where(name)
	if !errors.As(err, &r) {
		return s.network(where, err)
	}
	code := r.Code
	if code == "" {
		code = fmt.Sprint(r.StatusCode)
	}
	advice := ""
	switch {
	case code == "NoSuchKey" || code == "NoSuchBucket" && op == "remove":
		return &fs.PathError{Op: op, Path: where, Err: fs.ErrNotExist}
	case r.StatusCode == http.StatusPreconditionFailed || code == "ConditionalRequestConflict":
		return fmt.Errorf("%s: %w", where, ErrExist)
	case code == "NoSuchBucket":
		advice = fmt.Sprintf("; create the bucket %s at %s, or name another one", s.bucket, s.endpoint)
	case r.StatusCode == http.StatusForbidden && (code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || code == "InvalidClientTokenId"):
		advice = fmt.Sprintf("; %s does not accept the credentials: set the right AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE", s.endpoint)
	case strings.HasPrefix(code, "ExpiredToken"):
		advice = "; the credentials have expired: set new ones with their AWS_SESSION_TOKEN"
	case r.StatusCode == http.StatusForbidden:
		advice = fmt.Sprintf("; the credentials must allow s3:GetObject, s3:PutObject and s3:DeleteObject on s3://%s/%s*, and s3:ListBucket", s.bucket, s.prefix)
	case code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed":
		advice = "; the bucket is in another region: set s3.region"
	case r.StatusCode == http.StatusNotImplemented:
		advice = fmt.Sprintf("; %s lacks an operation that checkpoints need", s.endpoint)
	}
	return s.hidden(fmt.Errorf("%s: cannot %s: %s (%s)%s", where, op, strings.TrimSuffix(r.Error(), "."), code, advice))
}

// network explains failures to which no store has answered.
func (s *s3) network(where string, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return s.hidden(fmt.Errorf("%s: %s has not answered in time: %w", where, s.endpoint, err))
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", where, context.Canceled)
	case errors.As(err, new(net.Error)), errors.Is(err, io.EOF):
		return s.hidden(fmt.Errorf("%s: cannot reach %s: %w; is s3.endpoint right, and the store up?", where, s.endpoint, err))
	}
	return s.hidden(fmt.Errorf("%s: %w", where, err))
}

// hiddenError is an error whose text had a credential in it.
type hiddenError struct {
	text string
	err  error
}

// Error implements error.
func (e *hiddenError) Error() string { return e.text }

// Unwrap gives the cause.
func (e *hiddenError) Unwrap() error { return e.err }

func (s *s3) hidden(err error) error {
	text := err.Error()
	for _, secret := range s.hide {
		text = strings.ReplaceAll(text, secret, "****")
	}
	if text == err.Error() {
		return err
	}
	return &hiddenError{text, errors.Unwrap(err)}
}
