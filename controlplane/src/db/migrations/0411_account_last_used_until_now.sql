-- Apart from the column, whose lock would make calls with new tokens wait until all of usage_hourly has been read.
update provider_accounts a set last_used_at = u.at
  from (select agent_id, provider_slug, max(coalesce(last_at, hour)) as at from usage_hourly group by 1, 2) u
 where u.agent_id = a.agent_id and u.provider_slug = a.provider_slug and u.at >= a.created_at
   and (a.last_used_at is null or a.last_used_at < u.at);
