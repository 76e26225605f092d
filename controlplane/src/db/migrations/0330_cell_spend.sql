-- What a cell has spent of a hard budget (docs/regions.md#hard-budgets), by the usage records of its data planes. `budget_id`
-- is a row of `budgets`, a run, or the agent, project or organization of a plain monthly budget. `period` as in
-- `budget_spend`, which has the spend of all cells and what no cell has spent. Up to 16 slots as in budget_spend.
create table cell_spend (
  org_id uuid not null,
  budget_id uuid not null,
  period text not null,
  cell text not null,
  slot smallint not null,
  spent_nanos bigint not null,
  updated_at timestamptz not null default now(),
  primary key (budget_id, period, cell, slot, org_id)
) with (fillfactor = 50);
create index cell_spend_updated on cell_spend using brin (updated_at);
