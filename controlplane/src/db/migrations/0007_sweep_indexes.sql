-- The sweep of budgets reads one month every half minute. `spent_nanos` stays out, so that its updates stay HOT.
create index month_spend_month on month_spend (month);
-- The re-read of circuits looks at recent changes every two seconds, of whatever state.
create index circuits_changed on circuits (changed_at) where epoch > 1;
