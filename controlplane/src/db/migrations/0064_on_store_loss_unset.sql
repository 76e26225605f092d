-- Null: no choice of the agent's own; hard budgets then refuse calls while limits cannot be checked, soft ones allow them.
-- Changes the catalog only: no row is read or written under the lock.
alter table agents
  alter column on_store_loss drop not null,
  alter column on_store_loss drop default;
