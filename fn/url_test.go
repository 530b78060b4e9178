package fn

import "testing"

// What java.net.URL answers: protocol, host, path, query, reference, file,
// authority and user, or X where it throws.
var urlTests = []struct{ url, want string }{
	{"http://user:pw@example.com:8080/p/a/t/h;x?query=1&b=2#frag", "http|example.com|/p/a/t/h;x|query=1&b=2|frag|/p/a/t/h;x?query=1&b=2|user:pw@example.com:8080|user:pw"},
	{"http://example.com", "http|example.com||null|null||example.com|null"},
	{"http://example.com#", "http|example.com||null|||example.com|null"},
	{"http://example.com?#", "http|example.com||||?|example.com|null"},
	{"http://example.com/#a#b", "http|example.com|/|null|a#b|/|example.com|null"},
	{"http://example.com/a?b?c#d?e", "http|example.com|/a|b?c|d?e|/a?b?c|example.com|null"},
	{"http://a@b@c/x", "http||/x|null|null|/x|a@b@c|null"},
	{"http://a:b/x", "X"},
	{"http://a:/x", "http|a|/x|null|null|/x|a:|null"},
	{"http://a:99999999999/x", "X"},
	{"http://a:-1/x", "http|a|/x|null|null|/x|a:-1|null"},
	{"http://a:-2/x", "X"},
	{"http://[::1]:80/x", "http|[::1]|/x|null|null|/x|[::1]:80|null"},
	{"http://[::1/x", "X"},
	{"http://[::1]x/x", "X"},
	{"http:///x", "http||/x|null|null|/x||null"},
	{"http:/x", "http||/x|null|null|/x|null|null"},
	{"http:x", "http||x|null|null|x|null|null"},
	{"http:", "http|||null|null||null|null"},
	{"http:?q", "http|||q|null|?q|null|null"},
	{"http:#f", "http|||null|f||null|null"},
	{"//a/b", "X"},
	{"/a/b", "X"},
	{"HTTP://A/B", "http|A|/B|null|null|/B|A|null"},
	{"  http://a/b  ", "http|a|/b|null|null|/b|a|null"},
	{"url:http://a/b", "http|a|/b|null|null|/b|a|null"},
	{"URL:http://a/b", "http|a|/b|null|null|/b|a|null"},
	{"file:///data/x", "file||/data/x|null|null|/data/x||null"},
	{"file:/data/x", "file||/data/x|null|null|/data/x|null|null"},
	{"file://host/data", "file|host|/data|null|null|/data|host|null"},
	{"ftp://u@h/p", "ftp|h|/p|null|null|/p|u@h|u"},
	{"jar:file:/a.jar!/b", "jar||file:/a.jar!/b|null|null|file:/a.jar!/b|null|null"},
	{"jar:file:/a.jar", "X"},
	{"mailto:a@b.c", "mailto||a@b.c|null|null|a@b.c|null|null"},
	{"mailto:a@b.c?subject=x#y", "mailto||a@b.c|subject=x|null|a@b.c?subject=x|null|null"},
	{"https://x.y/./a/../b/./c", "https|x.y|/./a/../b/./c|null|null|/./a/../b/./c|x.y|null"},
	{"https://x.y/../a", "https|x.y|/../a|null|null|/../a|x.y|null"},
	{"https://x.y/a/..", "https|x.y|/a/..|null|null|/a/..|x.y|null"},
	{"https://x.y/a/.", "https|x.y|/a/.|null|null|/a/.|x.y|null"},
	{"https://x.y/a/b/../../../c", "https|x.y|/a/b/../../../c|null|null|/a/b/../../../c|x.y|null"},
	{"https://x.y/a/./?q=/../", "https|x.y|/a/./|q=/../|null|/a/./?q=/../|x.y|null"},
	{"https://x.y/.../a", "https|x.y|/.../a|null|null|/.../a|x.y|null"},
	{"http://a?x=/y", "http|a||x=/y|null|?x=/y|a|null"},
	{"http://a#b?c", "http|a||null|b?c||a|null"},
	{"http://ex ample.com/", "http|ex ample.com|/|null|null|/|ex ample.com|null"},
	{"http://例え.jp/é?ü", "http|例え.jp|/é|ü|null|/é?ü|例え.jp|null"},
	{"http://a/b%20c", "http|a|/b%20c|null|null|/b%20c|a|null"},
	{"ht tp://a", "X"},
	{"http//a", "X"},
	{"http://user@/x", "http||/x|null|null|/x|user@|user"},
	{"http://@/x", "http||/x|null|null|/x|@|"},
	{"http://@host/x", "http|host|/x|null|null|/x|@host|"},
	{"http://:80/x", "http||/x|null|null|/x|:80|null"},
	{"http://u:p:q@h:1/x", "http|h|/x|null|null|/x|u:p:q@h:1|u:p:q"},
	{"https://[fe80::1%25en0]/x", "https|[fe80::1%25en0]|/x|null|null|/x|[fe80::1%25en0]|null"},
	{"ws://a/b", "X"},
	{"javascript:alert(1)", "X"},
	{"a:b", "X"},
	{":a", "X"},
	{"http://a/b;c=d", "http|a|/b;c=d|null|null|/b;c=d|a|null"},
	{"http://a//b", "http|a|//b|null|null|//b|a|null"},
	{"http://a/b/../c?d#e", "http|a|/b/../c|d|e|/b/../c?d|a|null"},
	{"http://a/..b/c", "http|a|/..b/c|null|null|/..b/c|a|null"},
	{"http://a/b..", "http|a|/b..|null|null|/b..|a|null"},
	{"http://a/./", "http|a|/./|null|null|/./|a|null"},
	{"http://a/..", "http|a|/..|null|null|/..|a|null"},
	{"http://a/../", "http|a|/../|null|null|/../|a|null"},
	{"jrt:/java.base", "jrt||/java.base|null|null|/java.base|null|null"},
	{"http://a.b.c:080/", "http|a.b.c|/|null|null|/|a.b.c:080|null"},
	{"http://a\\b/c", "http|a\\b|/c|null|null|/c|a\\b|null"},
}

func TestParseURL(t *testing.T) {
	for _, c := range urlTests {
		got := "X"
		if u := (urlParts{}); u.parse([]byte(c.url)) {
			got = ""
			for i, name := range []string{"PROTOCOL", "HOST", "PATH", "QUERY", "REF", "FILE", "AUTHORITY", "USERINFO"} {
				if i > 0 {
					got += "|"
				}
				if part, ok := u.part(name); ok {
					got += string(part)
				} else {
					got += "null"
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.url, got, c.want)
		}
	}
}
