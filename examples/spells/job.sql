-- Busy spells of airports: departures that follow one another without a break of three hours. How long a spell lasts is up to
-- the flights, so it is a session of each airport; it ends when no plane has left for three hours.

SET 'pipeline.name' = 'spells';
-- The watermark follows each batch. Small ones let spells end while the file is being read.
SET 'millstream.batch.size' = '200';

CREATE TABLE flights (
  departure      TIMESTAMP(3),
  delay_minutes  INT,
  distance_miles INT,
  origin         STRING,
  destination    STRING,
  WATERMARK FOR departure AS departure - INTERVAL '5' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/flights/flights.csv',
  'format' = 'csv',
  'csv.header' = 'true'
);

CREATE TABLE spells (
  origin STRING, first_departure TIMESTAMP(3), last_departure TIMESTAMP(3), flights BIGINT, destinations BIGINT, late_flights BIGINT
) WITH (
  'connector' = 'filesystem', 'path' = 'examples/out/spells', 'format' = 'json'
);

-- A window of SESSION ends one gap after its last row: the last plane left three hours before window_end.
INSERT INTO spells
SELECT origin, window_start, window_end - INTERVAL '3' HOUR, COUNT(*), COUNT(DISTINCT destination),
       COUNT(*) FILTER (WHERE delay_minutes > 15)
FROM SESSION(TABLE flights PARTITION BY origin, DESCRIPTOR(departure), INTERVAL '3' HOUR)
GROUP BY origin, window_start, window_end;

-- The spells of 14 flights or more, read back from the results.
SELECT * FROM spells WHERE flights >= 14;
