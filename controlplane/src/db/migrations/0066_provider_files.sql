-- A tenant's provider may have a definition in the format of provider files; null: its other columns describe it.
alter table custom_providers add column definition jsonb;

-- Calls whose path says nothing about what they do are rejected unless an admin allowed them.
alter table provider_accounts add column allow_opaque boolean not null default false;

-- Keys of the breakers of further origins whose address depends on the credentials; circuit_key is the default origin's.
alter table provider_accounts add column named_circuit_keys text[] not null default '{}';
alter table credentials add column named_circuit_keys text[] not null default '{}';
