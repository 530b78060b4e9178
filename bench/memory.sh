#!/usr/bin/env bash
# Runs a job with much more state than memory under a real limit, and checks its
# output and the memory that it took:
#
#	bench/memory.sh [BINARY] [KEYS] [LIMIT_MB] [BACKEND]
#
# Each key comes twice, half of the input apart, so that nearly every row of the
# second half meets state that has left memory. A key has 380 bytes of state: 10
# million keys (the default) are some 4 GB, in 256 MB. Needs 3 times the state
# as free disk.
#
# The process runs in a control group of its own below that of this script, of
# version 1 or 2, whose limit is a tenth above memory.limit: the kernel counts
# cached pages of files there as well, and what it needs itself. Where no such
# group can be made (it takes root), the script says so, and the peak of the
# resident memory is all that is checked: without the pages of files, which are
# those of the program and can be dropped at any time, it must not pass memory.limit
# by more than a tenth.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
binary=$(realpath "${1:-bin/millstream}")
keys=${2:-10000000}
limit=${3:-256}
backend=${4:-disk}
dir=$(mktemp -d "${TMPDIR:-/tmp}/millstream-memory.XXXXXX")
source "$here/group.bash"
trap 'leave; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir"

cat > job.sql <<SQL
SET 'memory.limit' = '${limit} mb';
SET 'state.backend.type' = '${backend}';
SET 'execution.checkpointing.interval' = '10 s';
CREATE TABLE numbers (n BIGINT, ts AS CAST(TIMESTAMP '2024-01-01 00:00:00' AS TIMESTAMP(3)), WATERMARK FOR ts AS ts)
WITH ('connector' = 'datagen', 'number-of-rows' = '$((2 * keys))', 'rows-per-second' = '1000000000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '$((2 * keys - 1))');
CREATE TABLE wrong (k BIGINT, c BIGINT, s BIGINT, filler STRING) WITH ('connector' = 'filesystem', 'path' = 'wrong', 'format' = 'csv');
CREATE TABLE sums (c BIGINT, s BIGINT) WITH ('connector' = 'filesystem', 'path' = 'sums', 'format' = 'csv');
CREATE VIEW twice AS SELECT window_time AS t, MOD(n * 7919, ${keys}) AS k, COUNT(*) AS c, SUM(n) AS s, MAX(REPEAT(CAST(MOD(n, ${keys}) AS STRING), 40)) AS filler
FROM TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' DAY) GROUP BY window_start, window_end, window_time, MOD(n * 7919, ${keys});
EXECUTE STATEMENT SET BEGIN
INSERT INTO wrong SELECT k, c, s, filler FROM twice WHERE c <> 2 OR CHAR_LENGTH(filler) < 40;
INSERT INTO sums SELECT COUNT(*), SUM(s) FROM TUMBLE(TABLE twice, DESCRIPTOR(t), INTERVAL '1' DAY) GROUP BY window_start, window_end;
END;
SQL

began=$(date +%s)
make_group
start "$binary" run --data data job.sql
peak=0 anonymous=0 state=0 turn=0
while kill -0 "$pid" 2>/dev/null; do
	read -r now private < <(awk '/VmHWM/ {a = $2} /RssAnon/ {b = $2} END {print int(a / 1024), int(b / 1024)}' "/proc/$pid/status" 2>/dev/null) || true
	if ((${now:-0} > peak)); then peak=$now; fi
	if ((${private:-0} > anonymous)); then anonymous=$private; fi
	if ((turn++ % 10 == 0)); then
		disk=$(du -sm data 2>/dev/null | cut -f1) || true # files come and go
		if ((${disk:-0} > state)); then state=$disk; fi
	fi
	sleep 0.2
done
finish || exit 1

got=$(cat sums/*)
want="${keys},$((keys * (2 * keys - 1)))"
echo "keys ${keys}, limit ${limit} MB: peak of resident memory ${peak} MB (${anonymous} MB without files), of the data directory ${state} MB, $(($(date +%s) - began)) s"
if [ "$got" != "$want" ] || [ -n "$(cat wrong/* 2>/dev/null)" ]; then
	echo "wrong output: $got, expected $want" >&2
	exit 1
fi
if ((anonymous > limit * 11 / 10)); then
	echo "the process took more than a tenth over its limit" >&2
	exit 1
fi
