-- The sweep of the trail looks for the oldest entries, of whatever organization.
create index audit_entries_at on audit_entries (at);
