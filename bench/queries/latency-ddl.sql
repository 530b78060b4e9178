-- Bids that come at the time that they carry, in order.

CREATE TABLE events (
  event_type INT,
  person ROW<`dateTime` TIMESTAMP(3)>,
  auction ROW<`dateTime` TIMESTAMP(3)>,
  bid ROW<auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3)>,
  `dateTime` AS CASE event_type WHEN 0 THEN person.`dateTime` WHEN 1 THEN auction.`dateTime` ELSE bid.`dateTime` END,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '0.001' SECOND
) WITH (
  'connector' = 'nexmark', 'events' = '${events}', 'rate' = '${rate}', 'base-ms' = '${base}', 'live' = '${live}', 'preload' = '${preload}'
);

CREATE VIEW live AS SELECT MOD(bid.auction, 1000) AS k, bid.price AS price, `dateTime` FROM events WHERE event_type = 2;
