package batch

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/types"
)

func one[T Value](t types.Type, x T) Vector {
	v := NewFixed[T](t, 1)
	v.Append(x)
	return v
}

// TestEncodingIsForever pins both encodings: checkpoints depend on them.
func TestEncodingIsForever(t *testing.T) {
	list := New(types.ArrayOf(types.Of(types.Int)), 1).(*List)
	list.Elem.(*Fixed[int32]).Append(7)
	list.Elem.AppendNull()
	list.Close()
	twoKeys := func(a, b string) Vector {
		m := New(types.MapOf(types.StringType(), types.Of(types.TinyInt)), 1).(*Map)
		m.Keys.(*Bytes).AppendString(a)
		m.Keys.(*Bytes).AppendString(b)
		m.Vals.(*Fixed[int8]).Append(int8(a[0]))
		m.Vals.(*Fixed[int8]).Append(int8(b[0]))
		m.Close()
		return m
	}
	row := New(types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}, types.Field{Name: "b", Type: types.StringType()}), 1).(*Row)
	row.Cols[0].AppendNull()
	row.Cols[1].(*Bytes).AppendString("x")
	row.Close()
	cases := []struct {
		name       string
		v          Vector
		key, value string
	}{
		{"null", Nulls(types.Of(types.Int), 1), "00", ""},
		{"true", one(types.Of(types.Boolean), true), "0101", "01"},
		{"tinyint", one[int8](types.Of(types.TinyInt), -2), "017e", "fe"},
		{"smallint", one[int16](types.Of(types.SmallInt), -2), "017ffe", "03"},
		{"int", one[int32](types.Of(types.Int), 300), "018000012c", "d804"},
		{"bigint", one[int64](types.Of(types.BigInt), -1), "017fffffffffffffff", "01"},
		{"float", one[float32](types.Of(types.Float), 1.5), "01bfc00000", "0000c03f"},
		{"double", one(types.Of(types.Double), -1.5), "014007ffffffffffff", "000000000000f8bf"},
		{"minus zero", one(types.Of(types.Double), math.Copysign(0, -1)), "018000000000000000", "0000000000000080"},
		{"NaN", one(types.Of(types.Double), math.NaN()), "01fff8000000000000", "010000000000f87f"},
		{"decimal", one(types.DecimalOf(38, 0), types.Int128{Hi: -1, Lo: 5}), "017fffffffffffffff0000000000000005", "010500000000000000"},
		{"timestamp", one(types.TimeOf(types.Timestamp, 9), types.TS{Ms: 1, Ns: 2}), "01800000000000000100000002", "0202"},
		{"string", stringsOf("a\x00b"), "016100ff620001", "03610062"},
		{"empty string", stringsOf(""), "010001", "00"},
		{"array", list, "0101018000000701" + "00" + "00", "0201010e"},
		{"map", twoKeys("k", "b"), "01" + "0101620001" + "01e2" + "01016b0001" + "01eb" + "00", "0200016b01" + "62006b62"},
		{"row", row, "0100" + "01780001", "0100" + "000178"},
	}
	for _, c := range cases {
		if got := hex.EncodeToString(AppendKey(nil, c.v, 0)); got != c.key {
			t.Errorf("%s: key is %s, want %s", c.name, got, c.key)
		}
		if c.value == "" {
			continue
		}
		if got := hex.EncodeToString(AppendValue(nil, c.v, 0)); got != c.value {
			t.Errorf("%s: value is %s, want %s", c.name, got, c.value)
		}
	}
	if a, b := AppendKey(nil, twoKeys("k", "b"), 0), AppendKey(nil, twoKeys("b", "k"), 0); !bytes.Equal(a, b) {
		t.Errorf("equal maps have keys %x and %x", a, b)
	}
}

func TestEncodingRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 200
	for _, typ := range allTypes {
		v := New(typ, n)
		appendRandom(rng, v, n)
		keys, values := New(typ, n), New(typ, n)
		var keyBuf, valueBuf []byte
		for i := range n {
			keyBuf = AppendKey(keyBuf, v, i)
			if !v.Validity().IsNull(i) {
				valueBuf = AppendValue(valueBuf, v, i)
			}
		}
		var err error
		for i := range n {
			if keyBuf, err = DecodeKey(keys, keyBuf); err != nil {
				t.Fatalf("%s: key %d: %v", typ, i, err)
			}
			if v.Validity().IsNull(i) {
				values.AppendNull()
			} else if valueBuf, err = DecodeValue(values, valueBuf); err != nil {
				t.Fatalf("%s: value %d: %v", typ, i, err)
			}
			want := show(v, i)
			if got := show(keys, i); got != want {
				t.Fatalf("%s: key %d came back as %s, want %s", typ, i, got, want)
			}
			if got := show(values, i); got != want {
				t.Fatalf("%s: value %d came back as %s, want %s", typ, i, got, want)
			}
		}
		if len(keyBuf)+len(valueBuf) > 0 {
			t.Errorf("%s: %d and %d bytes are left", typ, len(keyBuf), len(valueBuf))
		}
	}
}

func TestKeyOrder(t *testing.T) {
	doubles := floats(math.Inf(-1), -2, -math.SmallestNonzeroFloat64, 0, 1e-300, 1, math.Inf(1), math.NaN())
	f32 := NewFixed[float32](types.Of(types.Float), 0)
	for _, x := range doubles.Values {
		if x != 1e-300 && x != -math.SmallestNonzeroFloat64 {
			f32.Append(float32(x))
		}
	}
	ascending := map[string]Vector{
		"bigint": ints64(math.MinInt64, -300, -1, 0, 1, 256, math.MaxInt64),
		"double": doubles,
		"float":  f32,
		"string": stringsOf("", "\x00", "\x00\x00", "\x00a", "\x01", "a", "a\x00", "a\x00\xff", "a\x01", "aa", "b", "\xff"),
		"decimal": func() Vector {
			v := NewFixed[types.Int128](types.DecimalOf(38, 0), 0)
			for _, x := range []types.Int128{{Hi: -2, Lo: 9}, {Hi: -1, Lo: 0}, {Hi: -1, Lo: 1 << 63}, {}, {Lo: 1}, {Lo: 1 << 63}, {Hi: 1}} {
				v.Append(x)
			}
			return v
		}(),
	}
	for name, v := range ascending {
		last := AppendKey(nil, Nulls(v.Type(), 1), 0)
		for i := range v.Len() {
			key := AppendKey(nil, v, i)
			if bytes.Compare(last, key) >= 0 {
				t.Errorf("%s: key %x of value %d is not above %x", name, key, i, last)
			}
			last = key
		}
	}
}

// TestDecodeGarbage feeds damaged encodings: errors are fine, panics and
// endless memory are not.
func TestDecodeGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, typ := range allTypes {
		for range 300 {
			v := New(typ, 1)
			appendOne(rng, v)
			if typ.Kind == types.Null {
				continue
			}
			for _, buf := range [][]byte{AppendKey(nil, v, 0), AppendValue(nil, v, 0)} {
				if len(buf) > 0 {
					buf[rng.IntN(len(buf))] ^= byte(1 << rng.IntN(8))
					buf = buf[:rng.IntN(len(buf)+1)]
				}
				DecodeKey(New(typ, 1), buf)
				DecodeValue(New(typ, 1), buf)
			}
		}
	}
	for _, typ := range allTypes {
		if typ.Phys() == types.PhysNull {
			continue
		}
		if _, err := DecodeKey(New(typ, 1), []byte{2}); err == nil {
			t.Errorf("%s: a key that begins with 2 was decoded", typ)
		}
		if _, err := DecodeKey(New(typ, 1), nil); err == nil {
			t.Errorf("%s: a key of no bytes was decoded", typ)
		}
	}
}
