package diag

import "regexp"

var (
	urlPassword   = regexp.MustCompile(`(://[^\s"'/@:]*:)[^\s"']*@`)
	paramPassword = regexp.MustCompile(`(?i)([?&;][\w.-]*(?:password|passwd|pwd|secret|token|api[-_.]?key|access[-_.]?key|credential)[\w.-]*=)[^&;\s"']+`)
)

// Redact hides the passwords of addresses in a text: that of user:password@host,
// and those that stand behind ? as password=... and the like.
func Redact(text string) string {
	text = urlPassword.ReplaceAllString(text, "$1****@")
	return paramPassword.ReplaceAllString(text, "$1****")
}
