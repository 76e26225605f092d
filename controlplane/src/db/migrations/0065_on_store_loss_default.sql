-- `allow` was the default of every agent, so an explicit choice cannot be told from it: all become null. For soft budgets
-- this changes nothing, hard ones refuse from now on. A migration of its own, so that 0064 holds its lock for a moment only.
update agents set on_store_loss = null where on_store_loss = 'allow';
