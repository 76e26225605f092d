-- When the last evaluation of an alert rule failed; null: it did not. `value` is then null, too. This release no longer
-- writes `silenced_by`; control planes of the previous one still do.
alter table alert_rules add column failed_at timestamptz;
create index alert_rules_creator on alert_rules (created_by) where created_by is not null;
create index alerts_rule on alerts (rule_id, opened_at desc, id desc);
create index alerts_acknowledger on alerts (acknowledged_by) where acknowledged_by is not null;
drop index issuer_keys_age;
