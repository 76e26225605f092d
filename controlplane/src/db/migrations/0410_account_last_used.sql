-- When a call last used the account, to the minute. Null: never. Not indexed, so that its updates stay in the row's page.
alter table provider_accounts add column last_used_at timestamptz;
update provider_accounts a set last_used_at = u.at
  from (select agent_id, provider_slug, max(coalesce(last_at, hour)) as at from usage_hourly group by 1, 2) u
 where u.agent_id = a.agent_id and u.provider_slug = a.provider_slug and u.at >= a.created_at;
