-- Hard budgets, tokens per minute, and what becomes of calls while the counter store is away.
alter table agents
  add column budget_mode text not null default 'soft' check (budget_mode in ('soft', 'hard')),
  add column hold_max_output_tokens integer not null default 4096
    check (hold_max_output_tokens between 1 and 1000000),
  add column on_store_loss text not null default 'allow' check (on_store_loss in ('allow', 'refuse')),
  add column tpm_limit bigint check (tpm_limit between 1 and 1000000000);
