-- Data planes with a token or a certificate of their own (docs/operations.md#identities-of-data-planes).
create table data_plane_identities (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  token_hash bytea unique,           -- SHA-256; null: identified by its certificate alone
  previous_token_hash bytea unique,  -- valid until previous_until
  previous_until timestamptz,
  certificate_name text unique,      -- common name (CN); null: any certificate
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  check (token_hash is not null or certificate_name is not null)
);

create table data_plane_identity_changes (
  id bigint primary key generated always as identity,
  at timestamptz not null default now(),
  identity text not null,
  action text not null check (action in ('create', 'rotate', 'revoke')),
  changed_by text not null           -- user and host of the command
);

-- Organizations of which a data plane was given contexts; it books usage for no others.
create table data_plane_organizations (
  identity text not null,            -- '': it used the shared INTERNAL_TOKEN, and data_plane_id tells which
  data_plane_id text not null,       -- '' where the identity is its own
  org_id uuid not null,
  granted_at timestamptz not null default now(),
  primary key (identity, data_plane_id, org_id)
);
create index data_plane_organizations_at on data_plane_organizations (granted_at);

alter table data_planes add column identity text not null default '';
