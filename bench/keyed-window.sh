#!/bin/sh
# A keyed window whose state is larger than memory: what it costs, and what the
# process takes.
#
#   bench/keyed-window.sh [--keys N] [--rows N] [--skew X] [--memory MB] [--program FILE] [-D key=value ...]
#
# It prints rows for each second of CPU time, elapsed time, the highest resident
# size of the process, the largest size of its directory, and the checkpoints that
# were committed, with what was written to the disk meanwhile (by the kernel's
# count) for each of them. Figures are read from /proc while the process lasts; the
# last ones that could be read count.
#
#   bench/keyed-window.sh --flink SHARED [--keys N] [--rows N] [--memory MB] [--program FILE] [flags of bench compare ...]
#
# runs such a window (queries/keyed.sql, 4 events a key or --rows) on Millstream and on Flink
# in turn, and prints both as bench compare does. SHARED is the folder of the
# workload. Flink has its state in RocksDB, with half of the memory managed and
# half as heap (256 MB at least; HEAP=1g in the environment gives it more); what
# the JVM needs besides these is on top. Both take a checkpoint every 10 seconds.
# Millstream's files are in the temporary directory, Flink's in the workload's
# cache folder (~/.cache/millstream).
set -eu
keys=10000000 rows= skew=1 memory=512 program=bin/millstream flink=
here=$(dirname "$0")
while [ $# -gt 0 ]; do
	case $1 in
	--keys) keys=$2 ;;
	--rows) rows=$2 ;;
	--skew) skew=$2 ;;
	--memory) memory=${2%mb} ;;
	--flink) flink=$(realpath "$2") ;;
	--program) program=$2 ;;
	*) break ;;
	esac
	shift 2
done
if [ -n "$flink" ]; then
	program=$(realpath "$program")
	cd "$here/.."
	heap=$((memory / 2 > 256 ? memory / 2 : 256))
	HEAP=${HEAP:-${heap}m} exec go run ./bench compare --shared "$flink" --millstream "$program" --events "${rows:-$((4 * keys))}" --keys "$keys" \
		--repeat 1 --check-events 1000000 --warmup-events 1000000 \
		--set "memory.limit=${memory}mb;execution.checkpointing.interval=10 s" \
		--flink "--state rocksdb --managed $((memory / 2))m --checkpoint 10s" "$@" keyed
fi
rows=${rows:-$((4 * keys))}
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
sed -e "s/\${KEYS}/$keys/g; s/\${ROWS}/$rows/g; s/\${LAST}/$((rows - 1))/g; s/\${SKEW}/$skew/g; s/\${SECONDS}/$(((rows / 2 + 999) / 1000))/g" \
	"$here/keyed-window.sql" >"$dir/job.sql"
start=$(($(date +%s%N) / 1000000))
"$program" run "$dir/job.sql" --data "$dir/data" -D "memory.limit=${memory}mb" "$@" >"$dir/out" 2>"$dir/err" &
pid=$!
peak=0 disk=0 cpu=0 wrote=0 count=0
while kill -0 "$pid" 2>/dev/null; do
	now=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
	[ "${now:-0}" -gt "$peak" ] && peak=$now
	now=$(awk '{ print $14 + $15 }' "/proc/$pid/stat" 2>/dev/null || true)
	cpu=${now:-$cpu}
	now=$(awk '/^write_bytes/ { print $2 }' "/proc/$pid/io" 2>/dev/null || true)
	wrote=${now:-$wrote}
	now=$(cat "$dir"/data/job/checkpoints/latest 2>/dev/null || true)
	count=${now:-$count}
	now=$(du -sk "$dir/data" 2>/dev/null | cut -f 1 || true)
	[ "${now:-0}" -gt "$disk" ] && disk=$now
	sleep 0.2
done
status=0
wait "$pid" || status=$?
pid=
[ $status = 0 ] || { cat "$dir/err" >&2; exit 1; }
cat "$dir/out"
awk -v rows="$rows" -v keys="$keys" -v skew="$skew" -v memory="$memory" -v ticks="$(getconf CLK_TCK)" -v cpu="$cpu" \
	-v peak="$peak" -v disk="$disk" -v wrote="$wrote" -v count="$count" -v took="$(($(date +%s%N) / 1000000 - start))" 'BEGIN {
	printf "%d keys, skew %s, %d rows, memory.limit %d MB: %.0f rows per second of CPU time, %.1f s, %d MiB resident at most, %d MiB on disk at most",
		keys, skew, rows, memory, rows * ticks / cpu, took / 1000, peak / 1024, disk / 1024
	if (count > 0) printf ", %d checkpoints of %.1f MiB", count, wrote / count / 1048576
	print "" }'
