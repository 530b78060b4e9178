#!/bin/sh
# What checkpoints cost: a keyed window with none, one each second and ten each
# second, in turn.
#
#   bench/checkpoints.sh [--keys N] [--rows N] [--rounds N] [--program FILE] [INTERVAL ...]
#
# For each run: rows for each second of CPU time and of the clock, the checkpoints
# that were committed, and what a checkpoint wrote to the disk (by the kernel's
# count). Keys come at random, so that between two checkpoints nearly all change.
set -eu
keys=1000000 rows=100000000 rounds=3 program=bin/millstream
here=$(dirname "$0")
while [ $# -gt 0 ]; do
	case $1 in
	--keys) keys=$2 ;;
	--rows) rows=$2 ;;
	--rounds) rounds=$2 ;;
	--program) program=$2 ;;
	*) break ;;
	esac
	shift 2
done
[ $# -gt 0 ] || set -- '1 h' '1 s' '100 ms'
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
sed -e "s/\${KEYS}/$keys/g; s/\${ROWS}/$rows/g; s/\${LAST}/$((rows - 1))/g; s/\${SKEW}/1/g; s/\${SECONDS}/$((rows / 1000 + 1))/g" \
	"$here/keyed-window.sql" >"$dir/job.sql"

# measure INTERVAL prints the line of one run. A process whose entry in /proc has
# gone has just ended; the last figures count then.
measure() {
	rm -rf "$dir/data"
	began=$(date +%s%N)
	"$program" run "$dir/job.sql" --data "$dir/data" -D "execution.checkpointing.interval=$1" >"$dir/out" 2>"$dir/err" &
	pid=$!
	cpu=0 wrote=0 count=0
	while kill -0 "$pid" 2>/dev/null; do
		now=$(awk '{ print $14 + $15 }' "/proc/$pid/stat" 2>/dev/null || true)
		cpu=${now:-$cpu}
		now=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io" 2>/dev/null || true)
		wrote=${now:-$wrote}
		now=$(cat "$dir"/data/job/checkpoints/latest 2>/dev/null || true)
		count=${now:-$count}
		sleep 0.05
	done
	took=$((($(date +%s%N) - began) / 1000000))
	status=0
	wait "$pid" || status=$?
	pid=
	[ $status = 0 ] || { cat "$dir/err" >&2; exit 1; }
	awk -v every="$1" -v rows="$rows" -v ticks="$(getconf CLK_TCK)" -v cpu="$cpu" -v took="$took" -v wrote="$wrote" -v count="$count" 'BEGIN {
		printf "%-8s %10.0f rows/CPU-second %10.0f rows/s %4d checkpoints", every, rows * ticks / cpu, rows * 1000 / took, count
		if (count > 0) printf " %8.1f MiB each", wrote / count / 1048576
		print "" }'
}

echo "$keys keys, $rows rows"
for _ in $(seq "$rounds"); do
	for interval in "$@"; do measure "$interval"; done
done
