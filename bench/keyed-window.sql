-- Rows of KEYS keys that come evenly, or some more often than others (SKEW > 1), in two windows.
CREATE TABLE src (
  id BIGINT,
  u DOUBLE,
  k AS CAST(POWER(u, ${SKEW}) * ${KEYS} AS BIGINT),
  ts AS TO_TIMESTAMP_LTZ(id, 3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'datagen', 'number-of-rows' = '${ROWS}', 'rows-per-second' = '100000000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '${LAST}',
  'fields.u.min' = '0', 'fields.u.max' = '1'
);
CREATE TABLE snk (window_start TIMESTAMP_LTZ(3), keys BIGINT, cnt BIGINT, top BIGINT) WITH ('connector' = 'print');
INSERT INTO snk
SELECT window_start, COUNT(*), SUM(c), MAX(m) FROM (
  SELECT window_start, window_end, k, COUNT(*) AS c, SUM(id) AS s, MAX(id) AS m
  FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '${SECONDS}' SECOND(9)))
  GROUP BY window_start, window_end, k)
GROUP BY window_start, window_end;
