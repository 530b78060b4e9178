-- Earthquakes in each region and six hours, and the magnitude of the strongest one.
--
-- The feed delivers an earthquake again whenever it is updated, so event time is far out of order: by up to 160 hours.
-- The watermark waits six hours for stragglers; what comes later than that is too late for its window. It is counted, said at
-- the end, and, since nothing shall be lost, written to a table of its own by LATE(regions).

SET 'pipeline.name' = 'earthquakes';
-- The watermark follows each batch. Small ones, as from a feed, let time go on within this small file.
SET 'millstream.batch.size' = '100';

CREATE TABLE quakes (
  id         STRING,
  properties ROW<mag DOUBLE, place STRING, `time` BIGINT, felt INT, `type` STRING>,
  geometry   ROW<coordinates ARRAY<DOUBLE>>,
  happened   AS TO_TIMESTAMP_LTZ(properties.`time`, 3),
  WATERMARK FOR happened AS happened - INTERVAL '6' HOUR
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/earthquakes/earthquakes.ndjson',
  'format' = 'json'
);

CREATE VIEW regions AS
SELECT happened, properties.mag AS mag, geometry.coordinates[3] AS depth_km,
       REGEXP_EXTRACT(properties.place, '([^,]+)$', 1) AS region
FROM quakes
WHERE properties.`type` = 'earthquake';

CREATE TABLE strongest (
  from_time TIMESTAMP(3), to_time TIMESTAMP(3), region STRING, quakes BIGINT, strongest DOUBLE, deepest_km DOUBLE
) WITH (
  'connector' = 'filesystem', 'path' = 'examples/out/earthquakes', 'format' = 'json'
);

CREATE TABLE late_quakes (
  happened TIMESTAMP_LTZ(3), mag DOUBLE, depth_km DOUBLE, region STRING, window_end TIMESTAMP(3), hours_late DECIMAL(6, 1), line STRING
) WITH (
  'connector' = 'filesystem', 'path' = 'examples/out/late-earthquakes', 'format' = 'json'
);

EXECUTE STATEMENT SET
BEGIN
  INSERT INTO strongest
  SELECT window_start, window_end, TRIM(region), COUNT(*), MAX(mag), MAX(depth_km)
  FROM TUMBLE(TABLE regions, DESCRIPTOR(happened), INTERVAL '6' HOUR)
  GROUP BY window_start, window_end, TRIM(region);

  INSERT INTO late_quakes
  SELECT happened, mag, depth_km, TRIM(region), late_window_end, CAST(late_by_ms / 3600000.0 AS DECIMAL(6, 1)), late_source
  FROM LATE(regions);
END;

-- Six hours and regions with an earthquake of magnitude 5 or more, read back from the results.
SELECT * FROM strongest WHERE strongest >= 5;

-- Those that came too late, and where in the input they are.
SELECT * FROM late_quakes WHERE mag >= 4.5;
