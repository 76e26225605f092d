-- Credentials that the provider refused: tested again until it takes them.

alter table provider_accounts add column refused_at timestamptz; -- null: the provider has not refused them
create index provider_accounts_refused on provider_accounts (refused_at) where refused_at is not null;
