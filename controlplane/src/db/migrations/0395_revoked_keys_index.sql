-- The list of revoked keys, newest first. The index of the other keys leaves them out.
create index api_keys_revoked on api_keys (org_id, created_at desc, id desc) where revoked_at is not null;
