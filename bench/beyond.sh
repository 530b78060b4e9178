#!/usr/bin/env bash
# What it costs to keep more state than memory, when some keys come much more
# often than others:
#
#	bench/beyond.sh [--query NAME] [--keys N] [--rows N] [--skew X] [--memory MB] [--ample MB] [--times LIST] [--room PERCENT] [--program FILE] [-D key=value ...]
#
# Each key comes once, so that all rows of state exist; then come ROWS more rows, whose
# keys are u^SKEW times KEYS with u even between 0 and 1: with 16, the default, the
# twentieth of the keys that is asked for most gets 83 % of the rows. Each of them
# changes its row of state. The job runs with memory.limit = --ample and then --memory,
# each in a control group with a tenth more (where none can be made, which takes root,
# the script says so), and with a checkpoint every 10 s. It prints rows per second of CPU
# time of the second part (by what another sink has got in each tenth of a second; source,
# that sink and checkpoints are part of it), its ratio to the first run, and the highest
# resident memory. The results of all runs must be the same.
#
# The queries:
#	merged    a window whose rows are written without being read first (docs/design/0021),
#	          with a filler, which makes some 380 bytes of state for each key; the default
#	window    SUM of a DOUBLE in a window: a row that is not in memory is read
#	over      COUNT and SUM of a DOUBLE OVER (PARTITION BY ... ORDER BY time)
#	distinct  SELECT DISTINCT: the second part gives nothing out
# By default, 22 million keys are 8 GiB, in 14 GB and 1 GiB; for the others, 4.2 million
# are 200 to 330 MB, in 2 GB and 1 GiB. Rows have to last for some seconds.
#
# --times '1 4 16' runs with so much memory instead that the state is that many times
# what rows of state may take: half of what the limit leaves behind the 40 MiB that the
# program needs. The control groups have a third more then, as a container has whose
# memory.limit is not set: files that are read again and again have to lie somewhere.
# --room is how much more they have, in percent: with 1000 all files fit into the
# system's cache, and what a read from the disk costs does not count.
# A row takes as many bytes of memory as EXPLAIN STATE says.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
query=merged keys= rows= skew=16 memory=1024 ample= times= wanted= program=bin/millstream
while [ $# -gt 0 ]; do
	case $1 in
	--query) query=$2 ;;
	--keys) keys=$2 ;;
	--rows) rows=$2 ;;
	--skew) skew=$2 ;;
	--memory) memory=$2 ;;
	--ample) ample=$2 ;;
	--times) times=$2 ;;
	--room) wanted=$2 ;;
	--program) program=$2 ;;
	*) break ;;
	esac
	shift 2
done
day="DESCRIPTOR(ts), INTERVAL '1' DAY)"
case $query in
merged)
	keys=${keys:-22000000} rows=${rows:-20000000} ample=${ample:-14000} row=380
	columns="k BIGINT, c BIGINT, s BIGINT, filler STRING"
	result="SELECT k, COUNT(*), SUM(n), MAX(REPEAT(CAST(k AS STRING), 40)) FROM TUMBLE(TABLE numbers, $day GROUP BY window_start, window_end, k"
	;;
window) row=71 columns="k BIGINT, s DOUBLE" result="SELECT k, SUM(n * 0.5E0) FROM TUMBLE(TABLE numbers, $day GROUP BY window_start, window_end, k" ;;
over) row=79 columns="c BIGINT, s DOUBLE" result="SELECT COUNT(*) OVER w, SUM(n * 0.5E0) OVER w FROM numbers WINDOW w AS (PARTITION BY k ORDER BY p)" ;;
distinct) row=47 columns="k BIGINT" result="SELECT DISTINCT k FROM numbers" ;;
*) echo "there is no query $query" >&2 && exit 2 ;;
esac
keys=${keys:-4200000} rows=${rows:-4000000} ample=${ample:-2000}
if [ -n "$times" ]; then
	memory=
	for each in $times; do memory="$memory $((40 + 2 * keys * row / each / 1048576))"; done
fi
dir=$(mktemp -d)
source "$here/group.bash"
[ -z "$times" ] || room=33
room=${wanted:-$room}
trap 'leave; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
last=$((keys + rows - 1))
cat >"$dir/job.sql" <<SQL
CREATE TABLE numbers (n BIGINT, u DOUBLE, k AS CASE WHEN n < $keys THEN MOD(n * 7919, $keys) ELSE CAST(POWER(u, $skew) * $keys AS BIGINT) END,
  ts AS CAST(TIMESTAMP '2024-01-01 00:00:00' AS TIMESTAMP(3)), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen', 'number-of-rows' = '$((last + 1))', 'seed' = '1', 'rows-per-second' = '1000000000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '$last', 'fields.u.min' = '0', 'fields.u.max' = '1');
CREATE TABLE marks (n BIGINT) WITH ('connector' = 'print');
CREATE TABLE results ($columns) WITH ('connector' = 'checksum');
EXECUTE STATEMENT SET BEGIN
INSERT INTO marks SELECT n FROM numbers WHERE MOD(n, 100) = 0;
INSERT INTO results $result;
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
	if [ -z "$first" ] || ((second <= first)); then
		echo "the second part was over too soon to be measured: it needs more --rows" >&2
		exit 1
	fi
	sum=$(grep checksum "$dir/out")
	speed=$(awk -v rows="$((to - from))" -v ticks="$(getconf CLK_TCK)" -v cpu="$((second - first))" 'BEGIN { printf "%d", rows * ticks / cpu }')
	if [ -z "$full" ]; then
		full=$speed right=$sum
		echo "$query, $keys keys, skew $skew: $sum"
	elif [ "$sum" != "$right" ]; then
		echo "the results are not those of the first run: $sum" >&2
		exit 1
	fi
	awk -v memory="$limit" -v speed="$speed" -v full="$full" -v peak="$peak" 'BEGIN {
		printf "memory.limit %d MB: %d rows per second of CPU time (%.0f %%), %d MiB resident at most\n", memory, speed, 100 * speed / full, peak / 1024 }'
}
full=
for each in $ample $memory; do
	measure "$each" "$@"
done
