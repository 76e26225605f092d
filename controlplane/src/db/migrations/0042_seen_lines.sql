-- What was booked of an answer that was cut off: tokens in, cache read, cache write, out, reasoning, cost. Null: all of it.
alter table booked_lines add column seen bigint[];
