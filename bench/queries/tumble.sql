-- Keyed tumbling windows: bids of each auction every ten seconds.

CREATE TABLE tumble (auction BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), bids BIGINT
) WITH ('connector' = 'checksum', 'mode' = '${sink}');

INSERT INTO tumble
SELECT auction, window_start, window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
GROUP BY auction, window_start, window_end;
