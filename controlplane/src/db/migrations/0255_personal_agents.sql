-- Whether members may have an agent of their own in the project, and with which shared credentials. Null: they may not.
alter table projects add column personal_agent_credentials uuid[];
-- A personal agent ended with its owner's membership or with the project's setting. Only such an agent comes back when its
-- owner asks again; null: it is active, or an admin paused or revoked it.
alter table agents add column personal_ended_at timestamptz;
create unique index agents_one_personal_per_project on agents (project_id, owner_user_id) where owner_user_id is not null;
