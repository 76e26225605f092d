-- Usage of keys that the provider shows alike has a state and an amount of its own.
alter table billing_lines add column ambiguous_nanos bigint not null default 0; -- of any of these keys
alter table billing_lines drop constraint billing_lines_state_check,
  add constraint billing_lines_state_check
    check (state in ('match', 'drift', 'unattributed', 'ambiguous', 'unbilled', 'pending')) not valid;
