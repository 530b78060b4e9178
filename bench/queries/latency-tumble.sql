-- Bids of each of 1000 groups of auctions every second. Shown with the delay of each row behind the end of its window.

CREATE TABLE latency (k BIGINT, bids BIGINT, dearest BIGINT, window_end TIMESTAMP(3)
) WITH ('connector' = 'checksum', 'mode' = '${sink}', 'time' = 'window_end');

INSERT INTO latency
SELECT k, COUNT(*), MAX(price), window_end
FROM TABLE(TUMBLE(TABLE live, DESCRIPTOR(`dateTime`), INTERVAL '1' SECOND))
GROUP BY k, window_start, window_end;
