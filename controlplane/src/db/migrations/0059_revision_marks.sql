-- A random id of each revision: one that was read and is gone shows that the database lost transactions in a failover
-- (docs/operations.md#failover-of-postgres). Revisions are issued again afterwards, marks are not.
-- Rewrites the table, which holds about an hour of changes.
alter table invalidations add column mark uuid not null default gen_random_uuid();
