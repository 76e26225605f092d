-- Events that wait for their deliveries are taken organization by organization.
create index events_waiting on events (org_id, occurred_at) where fanned_out_at is null;
drop index events_pending;
