-- The month of a project or an organization in up to 16 rows: transactions that book usage of one organization at once
-- do not wait for each other's row until its commit (ledger/month-spend.ts). scope_spend keeps what was booked before, and
-- what control planes of the release before go on adding during an upgrade; a figure is the sum of both tables.
create table scope_spend_slots (
  scope text not null check (scope in ('project', 'org')),
  scope_id uuid not null,
  month text not null check (month ~ '^\d{4}-\d{2}$'),
  slot smallint not null,
  spent_nanos bigint not null,
  ledger_nanos bigint not null,     -- the part that no data plane counts
  primary key (scope_id, month, scope, slot)
) with (fillfactor = 50);

-- One row, none where nothing was spent. Plain enough to become part of the statement that asks for it. A sum that no
-- bigint holds stays at the largest one.
create function scope_month(of_scope text, of_id uuid, of_month text)
returns table (spent_nanos bigint, ledger_nanos bigint) language sql stable as $$
  select least(sum(part.spent_nanos), 9223372036854775807)::bigint,
         least(sum(part.ledger_nanos), 9223372036854775807)::bigint
    from (select s.spent_nanos, s.ledger_nanos from scope_spend s
           where s.scope_id = of_id and s.month = of_month and s.scope = of_scope
          union all
          select s.spent_nanos, s.ledger_nanos from scope_spend_slots s
           where s.scope_id = of_id and s.month = of_month and s.scope = of_scope) part
  having count(*) > 0
$$;
