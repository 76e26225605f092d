-- Every list goes by an index that begins with its organization, so a big tenant costs only itself.
create index provider_accounts_org on provider_accounts (org_id, created_at desc, id desc);
