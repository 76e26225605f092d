-- Groups of the provider and the roles that they give; null: none.
alter table sso_connections add column groups_claim text;
alter table sso_connections add column group_roles jsonb; -- [{"group": text, "role": text}]
-- Single sign-on is required of everybody else. Null: of no member.
alter table sso_connections add column break_glass_user_id uuid references users;
-- Approved in a session of single sign-on: the session of the device is one, too.
alter table device_logins add column sso boolean not null default false;
-- The role with which the account joins once it is proven; null: it may not join.
alter table sso_links add column role text check (role in ('viewer', 'member', 'admin'));
