-- An organization's events by time, and their mails to members who want them (docs/contract.md#events).
create index events_org on events (org_id, occurred_at desc, id desc);

-- Which events a member gets by mail. Goes with the membership, so nobody outside the organization gets any.
create table event_mail_recipients (
  org_id uuid not null,
  user_id uuid not null,
  events text[] not null,
  last_mailed_at timestamptz,
  primary key (org_id, user_id),
  foreign key (org_id, user_id) references memberships (org_id, user_id) on delete cascade
);

-- Events that wait for a mail, filled by the fan-out. No foreign keys: the fan-out of one organization's event must not
-- fail because a member of another one leaves just then; what nobody waits for any more is pruned.
create table event_mail_queue (
  org_id uuid not null,
  user_id uuid not null,
  event_id uuid not null,
  event text not null,
  data json not null,
  occurred_at timestamptz not null,
  primary key (org_id, user_id, event_id)
);
create index event_mail_queue_age on event_mail_queue (occurred_at);

-- Why a circuit is open.
alter table circuits add column reason text check (reason in ('error_rate', 'probe_failed'));
