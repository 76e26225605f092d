-- An organization is deleted in two steps: its keys at once, all else after seven days in which an owner may restore it.
alter table organizations add column purge_at timestamptz; -- null: it is not being deleted
create index organizations_purge on organizations (purge_at) where purge_at is not null;

-- Who deleted and restored what. No foreign keys: it outlives the organization and its audit trail.
create table organization_deletions (
  id uuid primary key,
  org_id uuid not null,
  name text not null,
  slug text not null,
  requested_by uuid not null,
  requested_by_email text not null,
  ip text not null,
  owner_ids uuid[] not null,    -- owners at that time: who may read this
  requested_at timestamptz not null default now(),
  purge_at timestamptz not null,
  restored_at timestamptz,
  restored_by uuid,
  restored_by_email text,
  purged_at timestamptz
);
create index organization_deletions_owners on organization_deletions using gin (owner_ids);
create index organization_deletions_org on organization_deletions (org_id);
create index organization_deletions_age on organization_deletions (requested_at);
