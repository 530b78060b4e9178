-- Flights an hour, and the mean delay of each airport of departure and day.

SET 'pipeline.name' = 'flights';

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

CREATE TABLE hourly (hour_of_day TIMESTAMP(3), flights BIGINT, mean_delay DOUBLE, longest_miles INT) WITH (
  'connector' = 'filesystem', 'path' = 'examples/out/flights/hourly', 'format' = 'csv'
);

CREATE TABLE airports (`day` DATE, origin STRING, flights BIGINT, late_flights BIGINT, mean_delay DECIMAL(6, 1)) WITH (
  'connector' = 'filesystem', 'path' = 'examples/out/flights/airports', 'format' = 'json'
);

EXECUTE STATEMENT SET BEGIN
  INSERT INTO hourly
  SELECT window_start, COUNT(*), AVG(CAST(delay_minutes AS DOUBLE)), MAX(distance_miles)
  FROM TUMBLE(TABLE flights, DESCRIPTOR(departure), INTERVAL '1' HOUR)
  GROUP BY window_start, window_end;

  INSERT INTO airports
  SELECT CAST(window_start AS DATE), origin, COUNT(*), COUNT(*) FILTER (WHERE delay_minutes > 15),
         CAST(AVG(CAST(delay_minutes AS DOUBLE)) AS DECIMAL(6, 1))
  FROM TUMBLE(TABLE flights, DESCRIPTOR(departure), INTERVAL '1' DAY)
  GROUP BY window_start, window_end, origin;
END;

-- The airports that had at least 14 departures on a day, read back from the results.
SELECT * FROM airports WHERE flights >= 14;
