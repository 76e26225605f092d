-- Attempts at sensitive calls, which the overview lists until their key is revoked.
create index rejected_calls_sensitive on rejected_calls (org_id, rejected_at desc) where reason = 'sensitive_path';
