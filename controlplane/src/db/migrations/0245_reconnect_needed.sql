-- Grants that have ended, which the overview lists until somebody connects the account again.
create index minted_credentials_reconnect on minted_credentials (org_id, failed_at desc) where failure = 'invalid_grant';
