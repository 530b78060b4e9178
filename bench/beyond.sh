#!/usr/bin/env bash
# What it costs to keep more state than memory, when some keys come much more
# often than others:
#
#	bench/beyond.sh [--keys N] [--rows N] [--skew X] [--memory MB] [--ample MB] [--program FILE] [-D key=value ...]
#
# Each key comes once, which makes some 380 bytes of state for it; then come ROWS
# more rows, whose keys are u^SKEW times KEYS with u even between 0 and 1: with 16, the
# default, the twentieth of the keys that is asked for most gets 83 % of the rows. The
# job runs with memory.limit = --ample and then --memory, each in a control group with
# a tenth more (where none can be made, which takes root, the script says so), and the
# script prints rows per second of CPU time of the second part (by what a second sink
# has got in each tenth of a second), and the highest resident memory. By default, 22 million keys are 8 GiB, in 1 GiB.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
keys=22000000 rows=20000000 skew=16 memory=1024 ample=14000 program=bin/millstream
while [ $# -gt 0 ]; do
	case $1 in
	--keys) keys=$2 ;;
	--rows) rows=$2 ;;
	--skew) skew=$2 ;;
	--memory) memory=$2 ;;
	--ample) ample=$2 ;;
	--program) program=$2 ;;
	*) break ;;
	esac
	shift 2
done
dir=$(mktemp -d)
source "$here/group.bash"
trap 'leave; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
last=$((keys + rows - 1))
cat >"$dir/job.sql" <<SQL
CREATE TABLE numbers (n BIGINT, u DOUBLE, k AS CASE WHEN n < $keys THEN MOD(n * 7919, $keys) ELSE CAST(POWER(u, $skew) * $keys AS BIGINT) END,
  ts AS CAST(TIMESTAMP '2024-01-01 00:00:00' AS TIMESTAMP(3)), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen', 'number-of-rows' = '$((last + 1))', 'rows-per-second' = '1000000000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '$last', 'fields.u.min' = '0', 'fields.u.max' = '1');
CREATE TABLE marks (n BIGINT) WITH ('connector' = 'print');
CREATE TABLE sums (c BIGINT, s BIGINT, most BIGINT) WITH ('connector' = 'print');
CREATE VIEW each_key AS SELECT window_time AS t, k, COUNT(*) AS c, SUM(n) AS s, MAX(REPEAT(CAST(k AS STRING), 40)) AS filler
FROM TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' DAY) GROUP BY window_start, window_end, window_time, k;
EXECUTE STATEMENT SET BEGIN
INSERT INTO marks SELECT n FROM numbers WHERE MOD(n, 100) = 0;
INSERT INTO sums SELECT SUM(c), SUM(s), MAX(CHAR_LENGTH(filler)) FROM TUMBLE(TABLE each_key, DESCRIPTOR(t), INTERVAL '1' DAY) GROUP BY window_start, window_end;
END;
SQL
# measure runs the job with the limit of memory that is its first argument.
measure() {
	limit=$1
	shift
	: >"$dir/out"
	make_group
	start "$program" run "$dir/job.sql" --data "$dir/data" -D "memory.limit=${limit}mb" -D execution.checkpointing.interval=10s "$@" >"$dir/out" 2>"$dir/err"
	peak=0 cpu=0 first= second= from= to=
	while kill -0 "$pid" 2>/dev/null; do
		now=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
		if [ "${now:-0}" -gt "$peak" ]; then peak=$now; fi
		now=$(awk '{ print $14 + $15 }' "/proc/$pid/stat" 2>/dev/null || true)
		cpu=${now:-$cpu}
		mark=$(tail -n 2 "$dir/out" | head -n 1 | tr -dc '0-9')
		if [ "${mark:-0}" -ge "$keys" ] && [ "$mark" -le $((last - rows / 20)) ]; then # the end comes with the results
			if [ -z "$first" ]; then first=$cpu from=$mark; fi
			if [ "$mark" -gt "${to:-0}" ]; then second=$cpu to=$mark; fi
		fi
		sleep 0.1
	done
	finish || { cat "$dir/err" >&2; exit 1; }
	leave
	rm -rf "$dir/data"
	grep ',' "$dir/out" # the sums
	awk -v keys="$keys" -v rows="$((to - from))" -v skew="$skew" -v memory="$limit" -v ticks="$(getconf CLK_TCK)" -v a="$first" -v b="$second" -v peak="$peak" 'BEGIN {
		printf "%d keys, skew %s, memory.limit %d MB: %.0f rows per second of CPU time, %d MiB resident at most\n", keys, skew, memory, rows * ticks / (b - a), peak / 1024 }'
}
for each in $ample $memory; do
	measure "$each" "$@"
done
