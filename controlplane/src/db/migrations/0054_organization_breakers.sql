-- Every organization has its own breaker per origin (docs/contract.md#circuits): `circuit_key` ends in the organization.
-- Rows without `org_id` are from now on the fleet's breakers of built-in providers with one fixed origin. The table has
-- a row per origin until now, so the rewrite is short. `circuit_successes` stays for control planes of the release before.
alter table circuits
  -- Provider and origin, which the breakers of all organizations on one origin have in common.
  add column origin_key text generated always as (split_part(circuit_key, '|', 1) || '|' || split_part(circuit_key, '|', 2)) stored,
  add column opened_at timestamptz,            -- when it left CLOSED; null while CLOSED
  add column announced boolean not null default false, -- open because of calls, which an event has told
  add column succeeded_at timestamptz,         -- a success while CLOSED, right to ten minutes
  add column succeeded_before_at timestamptz,  -- the one noted before that
  drop constraint circuits_reason_check,
  add constraint circuits_reason_check check (reason in ('error_rate', 'probe_failed', 'connect', 'held'));
create index circuits_origin_not_closed on circuits (origin_key) where state <> 'CLOSED';

-- What the organizations have voted ends here.
update circuits set state = 'CLOSED', epoch = epoch + 1, open_until = null, reason = null, changed_at = now()
 where org_id is null and state <> 'CLOSED';

-- Up to two agents whose outcomes a row counts: evidence of two agents is asked for where two are active.
alter table circuit_outcomes add column agents uuid[] not null default '{}';

-- What data planes have said of the origins that they connect to: the fleet's breaker follows from it.
create table origin_contacts (
  data_plane_id text not null,
  origin text not null,             -- scheme://host[:port]
  contact_at timestamptz not null,  -- when it last dialled the origin or had an answer from it
  unreachable boolean not null,     -- its own connect breaker is open
  primary key (origin, data_plane_id)
);
create index origin_contacts_age on origin_contacts (contact_at);
