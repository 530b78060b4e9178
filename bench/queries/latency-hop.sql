-- Bids of each of 1000 groups of auctions in the last ten seconds, ten times a second.

CREATE TABLE latency (k BIGINT, bids BIGINT, dearest BIGINT, window_end TIMESTAMP(3)
) WITH ('connector' = 'checksum', 'mode' = '${sink}', 'time' = 'window_end');

INSERT INTO latency
SELECT k, COUNT(*), MAX(price), window_end
FROM TABLE(HOP(TABLE live, DESCRIPTOR(`dateTime`), INTERVAL '0.1' SECOND, INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;
