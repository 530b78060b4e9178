package gen

// The workload draws its numbers from a counter: each one is a pure function of (key, index, slot), so any
// event and any column of it can be had without the ones before.

const gamma uint64 = 0x9E3779B97F4A7C15

// mix is a bijection of 64-bit numbers whose every output bit depends on every input bit.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// indexKey is the key of all slots of one index.
func indexKey(key, index uint64) uint64 { return mix(key + index*gamma) }

// slot draws number i of an index whose key is k.
func slot(k, i uint64) uint64 { return mix(k + (i+1)*gamma) }

// draw is slot for those who need a single number of an index.
func draw(key, index, i uint64) uint64 { return slot(indexKey(key, index), i) }

// hi maps the upper half of r to [0, m); m must be below 2^32.
func hi(r, m uint64) uint64 { return (r >> 32) * m >> 32 }

// lo maps the lower half of r to [0, m); m must be below 2^32.
func lo(r, m uint64) uint64 { return (r & 0xFFFFFFFF) * m >> 32 }

// mantissa[i] is 10^(i/64) * 10^6, rounded.
var mantissa = [65]uint64{
	1000000, 1036633, 1074608, 1113974, 1154782, 1197085, 1240938, 1286397,
	1333521, 1382372, 1433013, 1485508, 1539927, 1596339, 1654817, 1715438,
	1778279, 1843423, 1910953, 1980957, 2053525, 2128752, 2206734, 2287573,
	2371374, 2458244, 2548297, 2641648, 2738420, 2838736, 2942727, 3050528,
	3162278, 3278121, 3398208, 3522695, 3651741, 3785515, 3924190, 4067944,
	4216965, 4371445, 4531584, 4697589, 4869675, 5048066, 5232991, 5424691,
	5623413, 5829415, 6042964, 6264335, 6493816, 6731704, 6978306, 7233942,
	7498942, 7773650, 8058422, 8353625, 8659643, 8976871, 9305720, 9646616,
	10000000,
}

var powersOfTen = [8]uint64{1, 10, 100, 1000, 10000, 100000} // 8 long so that an index masked with 7 needs no check

// price is log-uniform over 100 to 100,000,000: a decade, then a mantissa interpolated between 65 points.
func price(r uint64) int64 {
	u := (r >> 32) * 6
	i, f := u>>26&63, u&(1<<26-1)
	m := mantissa[i] + (mantissa[i+1]-mantissa[i])*f>>26
	return int64((m*powersOfTen[u>>32&7] + 5000) / 10000)
}
