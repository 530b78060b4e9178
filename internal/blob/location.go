package blob

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/millstream-io/millstream/internal/vfs"
)

// Options are what Open needs to know besides a location. Credentials are not
// among them: they come from the environment only.
type Options struct {
	// Endpoint is the address of the store, "host:port" or a URL; https where
	// it does not say http. Empty means AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL,
	// or AWS.
	Endpoint string
	// Region of the bucket; empty means AWS_REGION, AWS_DEFAULT_REGION, or what
	// the store says.
	Region string
	// PathStyle is "true" if the bucket belongs in the path of addresses, "false"
	// if in the host's name. Empty means: in the host's name at AWS only.
	PathStyle string
	// FS is the file system of locations that are paths; nil means the machine's.
	FS vfs.FS
}

// Remote reports whether a location is not in the file system.
func Remote(location string) bool {
	return strings.Contains(location, "://") && !strings.HasPrefix(location, "file://")
}

// Open returns the store at a location: "s3://bucket/prefix", "file:///path", or
// a path. It does not look whether there is something.
func Open(location string, o Options) (Store, error) {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return NewDir(o.FS, location), nil
	}
	switch scheme {
	case "file":
		if !strings.HasPrefix(rest, "/") {
			return nil, fmt.Errorf("%s: a file address is file:///path", location)
		}
		return NewDir(o.FS, rest), nil
	case "s3", "s3a", "s3p":
		return openS3(rest, o)
	}
	return nil, fmt.Errorf("%s: locations are paths of directories, or s3://bucket/prefix; there is no %s", redactUser(location), scheme)
}

// redactUser cuts what may be a password out of an address.
func redactUser(location string) string {
	scheme, rest, _ := strings.Cut(location, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "****@" + rest[i+1:]
	}
	return scheme + "://" + rest
}

func openS3(rest string, o Options) (Store, error) {
	bucket, prefix, _ := strings.Cut(rest, "/")
	switch {
	case strings.Contains(bucket, "@"):
		return nil, fmt.Errorf("%s: credentials do not belong in an address; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, in the environment",
			redactUser("s3://"+rest))
	case bucket == "":
		return nil, fmt.Errorf("s3://%s: the name of the bucket is missing: s3://bucket/prefix", rest)
	}
	host, secure, err := endpoint(o.Endpoint)
	if err != nil {
		return nil, err
	}
	creds := credentials.NewChainCredentials(providers())
	value, err := creds.GetWithContext(nil)
	if err != nil {
		return nil, fmt.Errorf("s3://%s: the credentials cannot be read: %w", bucket, err)
	}
	if value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return nil, fmt.Errorf("s3://%s: there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or AWS_PROFILE and a credentials file", bucket)
	}
	lookup, err := lookupType(o.PathStyle)
	if err != nil {
		return nil, err
	}
	client, err := minio.NewCore(host, &minio.Options{
		Creds: creds, Secure: secure, Region: first(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		BucketLookup: lookup, MaxRetries: retries, Transport: transport(secure),
	})
	if err != nil {
		return nil, fmt.Errorf("s3.endpoint %s: %w", host, err)
	}
	s := &s3{client: *client, endpoint: client.EndpointURL().String(), bucket: bucket, prefix: asPrefix(prefix)}
	for _, secret := range []string{value.AccessKeyID, value.SecretAccessKey, value.SessionToken} {
		if secret != "" {
			s.hide = append(s.hide, secret)
		}
	}
	return s, nil
}

// providers are the places for credentials: the environment, the file that it
// names or the usual one, and what a container's host gives if the environment
// says so.
func providers() []credentials.Provider {
	out := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if os.Getenv(name) != "" {
			return append(out, &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}})
		}
	}
	return out
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// endpoint takes the address of a store apart.
func endpoint(text string) (host string, secure bool, err error) {
	text = first(text, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", false, fmt.Errorf("s3.endpoint is %q; it must be an address such as http://localhost:9000", redactUser(text))
	case u.User != nil:
		return "", false, fmt.Errorf("s3.endpoint: credentials do not belong in an address; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "":
		return "", false, fmt.Errorf("s3.endpoint is %q; it must not have a path", text)
	}
	return u.Host, u.Scheme == "https", nil
}

func lookupType(pathStyle string) (minio.BucketLookupType, error) {
	switch strings.ToLower(pathStyle) {
	case "":
		return minio.BucketLookupAuto, nil
	case "true":
		return minio.BucketLookupPath, nil
	case "false":
		return minio.BucketLookupDNS, nil
	}
	return 0, fmt.Errorf("s3.path-style-access is %q; it must be true or false", pathStyle)
}

// transport is a connection pool whose waits are bounded.
func transport(secure bool) *http.Transport {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second, ExpectContinueTimeout: 5 * time.Second,
		DisableCompression: true,
	}
	if secure {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return t
}
