-- When the last of an hour's calls began; null in hours from before, and where only lines of batches were booked.
alter table usage_hourly add column last_at timestamptz;
