-- How many organizations one user may make is bounded; no foreign key, the organization outlives its maker.
alter table organizations add column created_by uuid;
create index organizations_creator on organizations (created_by);
-- The inviter has seen the link (mail stays on this machine), so whoever follows it has not shown to read the mailbox.
alter table invitations add column link_shown boolean not null default false;
