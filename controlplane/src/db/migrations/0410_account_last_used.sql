-- When a call last used the account, to the minute. Null: never. Not indexed, so that its updates stay in the row's page.
alter table provider_accounts add column last_used_at timestamptz;
