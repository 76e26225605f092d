-- Reconciliation with the usage and cost reports of providers (docs/contract.md#reconciliation). Billing accounts hold
-- admin keys in a table of their own, so that no agent's call can use one.
create table billing_accounts (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  api text not null check (api in ('openai', 'anthropic', 'openrouter')),
  provider_slug text not null,                  -- whose calls of the ledger are compared
  name text not null,
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  alert_cents integer not null,                 -- unattributed cost of a key and day that is an event
  problem text,                                 -- of the last check; null: it succeeded
  checked_at timestamptz,                       -- null: never
  next_check_at timestamptz not null default now(),
  lease uuid,                                   -- of the check that runs; null: none
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  unique (org_id, provider_slug)
);
create index billing_accounts_key on billing_accounts (key_id);
create index billing_accounts_due on billing_accounts (next_check_at);

-- Months with a check that succeeded.
create table billing_checks (
  billing_account_id uuid not null references billing_accounts on delete cascade,
  month text not null,
  checked_at timestamptz not null default now(),
  primary key (billing_account_id, month)
);

-- Which account of an agent held which of the provider's keys, and when. Kept after a rotation.
create table billing_keys (
  billing_account_id uuid not null references billing_accounts on delete cascade,
  key_label text not null,                      -- the key as the provider shows it, redacted
  account_id uuid not null,                     -- provider account; without a foreign key: records outlive it
  valid_from timestamptz not null,
  valid_to timestamptz,                         -- null: still held
  primary key (billing_account_id, account_id, valid_from)
);

-- One line per hour (a day where the provider reports days), key and model. Amounts are nano-dollars.
create table billing_lines (
  billing_account_id uuid not null references billing_accounts on delete cascade,
  hour timestamptz not null,
  key_label text not null,                      -- '': a key that the provider does not name
  model text not null,
  is_held boolean not null,                     -- an account of the organization holds the key
  our_requests bigint not null,
  our_tokens bigint not null,
  our_nanos bigint not null,
  their_requests bigint,                        -- null: the provider does not count them
  their_tokens bigint not null,
  their_nanos bigint not null,
  failure_nanos bigint not null,                -- billed calls that failed at the gateway
  unattributed_nanos bigint not null,           -- calls that the gateway did not make
  unbilled_nanos bigint not null,               -- booked here, not billed there
  price_nanos bigint not null,                  -- the same tokens at another price
  state text not null check (state in ('match', 'drift', 'unattributed', 'unbilled', 'pending')),
  primary key (billing_account_id, hour, key_label, model)
);

-- Prices of settled days that differ from the list. USD per million tokens.
create table billing_price_drifts (
  billing_account_id uuid not null references billing_accounts on delete cascade,
  day date not null,
  model text not null,
  field text not null,                          -- the field of PRICES_FILE
  our_usd_per_mtok float8 not null,
  their_usd_per_mtok float8 not null,
  primary key (billing_account_id, day, model, field)
);

-- Accepted differences. Never edited: another adjustment corrects one.
create table billing_adjustments (
  id uuid primary key,
  billing_account_id uuid not null references billing_accounts on delete cascade,
  month text not null check (month ~ '^\d{4}-\d{2}$'),
  amount_nanos bigint not null,
  reason text not null,
  created_by text not null,
  created_at timestamptz not null default now()
);
create index billing_adjustments_month on billing_adjustments (billing_account_id, month);

-- Each subject causes one event.
create table billing_alerts (
  billing_account_id uuid not null references billing_accounts on delete cascade,
  event text not null,
  subject text not null,
  primary key (billing_account_id, event, subject)
);
