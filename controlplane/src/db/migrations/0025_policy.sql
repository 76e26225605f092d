-- What an agent may call, and which accounts may make calls that hand out credentials.

alter table agents add column policy jsonb; -- null = everything
alter table provider_accounts add column allow_sensitive_paths boolean not null default false;
alter table custom_providers add column sensitive_paths text[] not null default '{}';
