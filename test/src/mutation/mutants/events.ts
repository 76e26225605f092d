import type { Area } from '../mutant.js';

const FACTS = 'controlplane/src/detectors/budget-alerts.ts';
const AGENTS = 'controlplane/src/agents/service.ts';
const OUTBOX = 'controlplane/src/events/event-outbox.ts';
const MAIL = 'controlplane/src/event-mail/store.ts';
const MAIL_TESTS = ['test/src/event-email.test.ts'];

export const EVENTS: Area = {
  name: 'events',
  tests: ['test/src/budget-and-abuse-events.test.ts', 'test/src/usage-detectors.test.ts'],
  built: false,
  mutants: [
    {
      file: AGENTS,
      find: `if ('budgetCentsMonthly' in patch || 'usageThresholds' in patch) await recheckBudgetOfAgent(tx, id);`,
      put: `if ('budgetCentsMonthly' in patch) await recheckBudgetOfAgent(tx, id);`,
      bug: 'changed thresholds are not checked again',
    },
    {
      file: AGENTS,
      find: `if ('budgetCentsMonthly' in patch || 'usageThresholds' in patch) await recheckBudgetOfAgent(tx, id);`,
      put: `if ('usageThresholds' in patch) await recheckBudgetOfAgent(tx, id);`,
      bug: 'a budget lowered to the spend is not checked',
    },
    {
      file: FACTS,
      find: 'return beforeNanos < limitNanos && afterNanos >= limitNanos;',
      put: 'return beforeNanos < limitNanos && afterNanos > limitNanos;',
      bug: 'a budget that is spent to the last cent is not exceeded',
    },
    {
      file: FACTS,
      find: 'return beforeNanos < limitNanos && afterNanos >= limitNanos;',
      put: 'return afterNanos >= limitNanos;',
      bug: 'a fact is queried again with every record',
      equivalent: 'the fact is a row: the second one is not inserted, and no event is sent',
    },
    {
      file: FACTS,
      find: 'Math.max(1, (agent.budgetCents',
      put: 'Math.max(0, (agent.budgetCents',
      bug: 'a budget of zero is never exceeded',
    },
    {
      file: FACTS,
      find: `for (const fact of facts) if (newFacts.delete(fact.name)) await appendAlertEvent(tx, fact);`,
      put: `for (const fact of facts) await appendAlertEvent(tx, fact);`,
      bug: 'two processes that detect the same fact both send an event',
    },
    {
      file: FACTS,
      find: "id = any(${ids}::uuid[]) and budget_mode = 'hard'`;",
      put: 'id = any(${ids}::uuid[])`;',
      bug: 'a rejection alone exceeds a soft budget',
    },
    {
      file: FACTS,
      find: '         and not exists (select 1 from event_facts e where e.fact = f.fact)\n',
      put: '\n',
      bug: 'the sweep checks facts with old events',
    },
    {
      file: 'controlplane/src/detectors/usage-detectors.ts',
      find: "booked.rejections.filter(({ reason }) => reason === 'budget'),",
      put: 'booked.rejections,',
      bug: 'a rejection for any reason exceeds a hard budget',
    },
    {
      file: 'controlplane/src/detectors/usage-detectors.ts',
      find: `    this.orgBreakers.recordOutcomes(booked.entries);
`,
      put: '',
      bug: 'recorded calls do not reach the breakers',
    },
    {
      file: OUTBOX,
      find: '  assertEventData(event, data);\n',
      put: '',
      bug: 'an event without its fields is sent',
      equivalent: 'a safety check behind the types: no caller in the product passes data that it rejects',
    },
    {
      file: OUTBOX,
      find: "  await tx`select pg_notify(${WEBHOOK_CHANNEL}, '')`;\n",
      put: '',
      bug: 'events wait for the next poll',
      equivalent: 'the workers poll by themselves: only slower, which a test without a clock cannot detect',
    },
    {
      file: MAIL,
      find: 'case when u.email_verified_at is not null then u.email end as email`;',
      put: 'u.email as email`;',
      bug: 'an address that is no longer verified gets e-mails',
      tests: MAIL_TESTS,
    },
    {
      file: MAIL,
      find: `(r.last_mailed_at is null or r.last_mailed_at < now() - make_interval(secs => \${intervalS}))`,
      put: `(\${intervalS}::integer is not null)`,
      bug: 'every event is sent as its own e-mail',
      tests: MAIL_TESTS,
    },
    {
      file: MAIL,
      find: 'where r.org_id = due.org_id and r.user_id = due.user_id and u.id',
      put: 'where r.user_id = due.user_id and u.id',
      bug: "a recipient of one organization's e-mail is marked for all of them",
      tests: MAIL_TESTS,
    },
    {
      file: MAIL,
      find: "      select ctid from event_mail_queue where occurred_at < now() - interval '1 day' limit 10000))`;",
      put: "      select ctid from event_mail_queue where occurred_at < now() - interval '1 minute' limit 10000))`;",
      bug: 'events that wait for their e-mail are pruned',
      tests: MAIL_TESTS,
    },
  ],
};
