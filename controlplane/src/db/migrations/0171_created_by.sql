-- Who created what gives access, so that the review of a leaver can list it. Null: created before this release, or the
-- account was deleted.
alter table api_keys add column created_by uuid references users on delete set null;
alter table webhook_endpoints add column created_by uuid references users on delete set null;
create index api_keys_creator on api_keys (created_by) where created_by is not null;
create index webhook_endpoints_creator on webhook_endpoints (created_by) where created_by is not null;

-- A personal agent: its keys end with the membership of its owner. Null: an agent of the organization.
alter table agents add column owner_user_id uuid references users on delete set null;
create index agents_owner on agents (owner_user_id) where owner_user_id is not null;
