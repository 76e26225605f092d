import { newAgent } from './provisioning.js';
import type { ExampleContext, Examples } from './route-example.js';

const RULE = { name: 'Example', metric: 'spend', atLeast: 100, windowHours: 2, increasePercent: 20 };

async function createRule({ owner }: ExampleContext): Promise<string> {
  return (await owner.call('POST', '/v1/alert-rules', RULE)).body.rule.id;
}

async function openAlert(context: ExampleContext): Promise<string> {
  const [alert] = await context.plane.database.sql<{ id: string }[]>`
    insert into alerts (id, org_id, rule_id, value) select gen_random_uuid(), org_id, id, 1 from alert_rules
     where id = ${await createRule(context)}
    on conflict (rule_id) where resolved_at is null do update set value = 1 returning id`;
  return alert!.id;
}

const byRule = async (context: ExampleContext) => ({ params: { id: await createRule(context) } });
const byAlert = async (context: ExampleContext) => ({ params: { id: await openAlert(context) } });

export const ALERT_EXAMPLES: Examples = {
  'GET /v1/alert-rules': {
    async prepare(context) {
      await createRule(context);
      return {};
    },
  },
  'POST /v1/alert-rules': {
    prepare: async (context) => ({ body: { ...RULE, agentId: (await newAgent(context)).id } }),
    success: 201,
  },
  'GET /v1/alert-rules/:id': { prepare: byRule },
  'PATCH /v1/alert-rules/:id': {
    prepare: async (context) => ({
      ...(await byRule(context)),
      body: { name: 'Renamed', atLeast: 1, windowHours: 1, increasePercent: 1, enabled: false, silencedUntil: null },
    }),
  },
  'DELETE /v1/alert-rules/:id': { prepare: byRule },
  'GET /v1/alerts': {
    async prepare(context) {
      await openAlert(context);
      return { query: { state: 'open' } };
    },
  },
  'POST /v1/alerts/:id/acknowledge': { prepare: byAlert },
  'POST /v1/alerts/:id/silence': {
    prepare: async (context) => ({
      ...(await byAlert(context)),
      body: { until: new Date(Date.now() + 3_600_000).toISOString() },
    }),
  },
};
