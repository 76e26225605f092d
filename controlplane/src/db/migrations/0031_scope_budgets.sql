-- Monthly budgets of projects and organizations, and what they have spent.
alter table projects add column budget_cents_monthly bigint check (budget_cents_monthly between 0 and 1000000000000);
alter table organizations
  add column budget_cents_monthly bigint check (budget_cents_monthly between 0 and 1000000000000);

create table scope_spend (
  scope text not null check (scope in ('project', 'org')),
  scope_id uuid not null,
  month text not null check (month ~ '^\d{4}-\d{2}$'),
  spent_nanos bigint not null,
  ledger_nanos bigint not null,     -- the part that no data plane counts
  primary key (scope_id, month, scope)
) with (fillfactor = 50);
-- Agents that are gone by now are in their organization's figure alone.
insert into scope_spend
select 'org', org_id, month, sum(spent_nanos), sum(ledger_nanos) from month_spend group by org_id, month
union all
select 'project', a.project_id, m.month, sum(m.spent_nanos), sum(m.ledger_nanos)
  from month_spend m join agents a on a.id = m.agent_id group by a.project_id, m.month;
