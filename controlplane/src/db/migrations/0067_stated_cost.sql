-- What the provider itself says that a call costs; null: it says nothing. Kept beside our own price (cost_nanos).
alter table usage_records add column stated_cost_nanos bigint;
