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
      bug: 'changed thresholds are not looked at again',
    },
    {
      file: AGENTS,
      find: `if ('budgetCentsMonthly' in patch || 'usageThresholds' in patch) await recheckBudgetOfAgent(tx, id);`,
      put: `if ('usageThresholds' in patch) await recheckBudgetOfAgent(tx, id);`,
      bug: 'a budget that is lowered to the spend is not looked at',
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
      bug: 'a fact is asked for again with every booking',
      equivalent: 'the fact is a row: the second one is not inserted, and nothing is told',
    },
    {
      file: FACTS,
      find: 'Math.max(1, (agent.budgetCents',
      put: 'Math.max(0, (agent.budgetCents',
      bug: 'a budget of zero is exceeded by nothing',
    },
    {
      file: FACTS,
      find: `for (const fact of facts) if (newFacts.delete(fact.name)) await appendAlertEvent(tx, fact);`,
      put: `for (const fact of facts) await appendAlertEvent(tx, fact);`,
      bug: 'two who see the same fact both tell it',
    },
    {
      file: FACTS,
      find: "id = any(${ids}::uuid[]) and budget_mode = 'hard'`;",
      put: 'id = any(${ids}::uuid[])`;',
      bug: 'a refusal alone exceeds a soft budget',
    },
    {
      file: FACTS,
      find: '         and not exists (select 1 from event_facts e where e.fact = f.fact)\n',
      put: '\n',
      bug: 'the sweep looks at what was told long ago',
    },
    {
      file: 'controlplane/src/detectors/usage-detectors.ts',
      find: "booked.rejections.filter(({ reason }) => reason === 'budget'),",
      put: 'booked.rejections,',
      bug: 'a refusal for any reason exceeds a hard budget',
    },
    {
      file: 'controlplane/src/detectors/usage-detectors.ts',
      find: `    this.orgBreakers.recordOutcomes(booked.entries);
`,
      put: '',
      bug: 'booked calls say nothing about circuits',
    },
    {
      file: OUTBOX,
      find: '  assertEventData(event, data);\n',
      put: '',
      bug: 'an event without its fields goes out',
      equivalent: 'a net under the types: no caller in the product gives data that it refuses',
    },
    {
      file: OUTBOX,
      find: "  await tx`select pg_notify(${WEBHOOK_CHANNEL}, '')`;\n",
      put: '',
      bug: 'events wait for the next look',
      equivalent: 'the workers look by themselves: only slower, which a test without a clock cannot tell',
    },
    {
      file: MAIL,
      find: 'case when u.email_verified_at is not null then u.email end as email`;',
      put: 'u.email as email`;',
      bug: 'an address that is not confirmed any more gets mails',
      tests: MAIL_TESTS,
    },
    {
      file: MAIL,
      find: `(r.last_mailed_at is null or r.last_mailed_at < now() - make_interval(secs => \${intervalS}))`,
      put: `(\${intervalS}::integer is not null)`,
      bug: 'every event is a mail of its own',
      tests: MAIL_TESTS,
    },
    {
      file: MAIL,
      find: 'where r.org_id = due.org_id and r.user_id = due.user_id and u.id',
      put: 'where r.user_id = due.user_id and u.id',
      bug: 'who is mailed about one organization is marked as mailed about all of them',
      tests: MAIL_TESTS,
    },
    {
      file: MAIL,
      find: "      select ctid from event_mail_queue where occurred_at < now() - interval '1 day' limit 10000))`;",
      put: "      select ctid from event_mail_queue where occurred_at < now() - interval '1 minute' limit 10000))`;",
      bug: 'what waits for its mail is pruned',
      tests: MAIL_TESTS,
    },
  ],
};
