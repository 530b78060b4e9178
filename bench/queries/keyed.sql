-- A keyed window with many keys (--keys, or a quarter as many as there are events): what is kept for them may be larger than memory.

CREATE TABLE keyed (k BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), bids BIGINT, total BIGINT, top BIGINT
) WITH ('connector' = 'checksum', 'mode' = '${sink}');

CREATE VIEW spread AS
SELECT MOD(price * 1000003 + bidder * 7919 + auction, ${keys}) AS k, price, `dateTime` FROM bid;

INSERT INTO keyed
SELECT k, window_start, window_end, COUNT(*), SUM(price), MAX(price)
FROM TABLE(TUMBLE(TABLE spread, DESCRIPTOR(`dateTime`), INTERVAL '1' DAY))
GROUP BY k, window_start, window_end;
