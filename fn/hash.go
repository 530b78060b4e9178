package fn

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"

	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(
		hashDef("MD5", 32, "5d41402abc4b2a76b9719d911017c592", digestMD5),
		hashDef("SHA1", 40, "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", digestSHA1),
		hashDef("SHA224", 56, "ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193", digestSHA224),
		hashDef("SHA256", 64, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", digestSHA256),
		hashDef("SHA384", 96, "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f", digestSHA384),
		hashDef("SHA512", 128, "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043", digestSHA512),
		sha2Def,
	)
}

// digest appends a hash of s in hexadecimal digits.
type digest func(dst, s []byte) []byte

func digestMD5(dst, s []byte) []byte {
	h := md5.Sum(s)
	return hex.AppendEncode(dst, h[:])
}

func digestSHA1(dst, s []byte) []byte {
	h := sha1.Sum(s)
	return hex.AppendEncode(dst, h[:])
}

func digestSHA224(dst, s []byte) []byte {
	h := sha256.Sum224(s)
	return hex.AppendEncode(dst, h[:])
}

func digestSHA256(dst, s []byte) []byte {
	h := sha256.Sum256(s)
	return hex.AppendEncode(dst, h[:])
}

func digestSHA384(dst, s []byte) []byte {
	h := sha512.Sum384(s)
	return hex.AppendEncode(dst, h[:])
}

func digestSHA512(dst, s []byte) []byte {
	h := sha512.Sum512(s)
	return hex.AppendEncode(dst, h[:])
}

// hashDef defines a hash function; hello is the hash of 'hello'.
func hashDef(name string, digits int, hello string, f digest) *Def {
	return &Def{
		Name: name, Family: familyHash, Syntax: name + "(string)",
		Doc: "Returns the " + name + " hash of the string, in UTF-8, or of the binary string, in hexadecimal digits in lower case.",
		Examples: []Example{
			{name + "('hello')", fmt.Sprintf("%s :: CHAR(%d) NOT NULL", hello, digits)},
			{name + "(CAST(NULL AS STRING))", fmt.Sprintf("NULL :: CHAR(%d)", digits)},
			{name + "(1)", "error"},
		},
		Bind: typed(Signature(types.CharOf(types.Char, digits), func(t types.Type) Kernel { return Text1(t, f) }, stringArg)),
	}
}

var sha2Def = &Def{
	Name: "SHA2", Family: familyHash, Syntax: "SHA2(string, bits)",
	Doc: "Returns the hash of the SHA-2 family with 224, 256, 384 or 512 bits of the string, in UTF-8, or of the binary string, " +
		"in hexadecimal digits in lower case. Another number of bits is an error.",
	Examples: []Example{
		{"SHA2('hello', 224)", "ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193 :: VARCHAR(128) NOT NULL"},
		{"SHA2('hello', CAST(NULL AS INT))", "NULL :: VARCHAR(128)"},
		{"SHA2('hello', 128)", "error"},
	},
	Bind: typed(Signature(types.CharOf(types.Varchar, 128), func(t types.Type) Kernel {
		return TextErr2(t, func(dst, s []byte, bits int64) ([]byte, bool, error) {
			switch bits {
			case 224:
				return digestSHA224(dst, s), true, nil
			case 256:
				return digestSHA256(dst, s), true, nil
			case 384:
				return digestSHA384(dst, s), true, nil
			case 512:
				return digestSHA512(dst, s), true, nil
			}
			return dst, false, fmt.Errorf("argument 2 of SHA2 must be 224, 256, 384 or 512, not %d", bits)
		})
	}, stringArg, IntegerArg)),
}
