-- Lines of batch results and background answers that have been booked, for ever: each is fetched as often as somebody
-- likes. The digest is of provider, source and line (ledger/lines.ts).
create table booked_lines (
  org_id uuid not null,
  digest bytea not null,
  primary key (org_id, digest)
);

-- What a call's new lines come to, until the record of the call arrives and takes it.
create table line_sums (
  record_id uuid primary key,
  tokens_in_uncached bigint not null,
  tokens_cache_read bigint not null,
  tokens_cache_write bigint not null,
  tokens_out bigint not null,
  tokens_reasoning bigint not null,
  cost_nanos bigint not null,
  at timestamptz not null default now()
);
create index line_sums_at on line_sums (at);
