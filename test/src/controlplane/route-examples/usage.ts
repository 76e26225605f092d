import { uuidv7 } from '@acg/base/uuidv7';
import { createIngest, insertAgent, newId, usageRecord } from '../../ledger/usage-fixture.js';
import type { ExampleContext, Examples } from './route-example.js';

const agentId = async ({ plane, owner }: ExampleContext): Promise<string> =>
  (await insertAgent(plane.database.sql, owner.orgId)).id;

const ofOneAgent = { prepare: async (context: ExampleContext) => ({ params: { agentId: await agentId(context) } }) };

export const USAGE_EXAMPLES: Examples = {
  'GET /v1/archive': { prepare: () => ({}) },
  'POST /v1/archive/verify': {
    // Without ARCHIVE_URL there is nothing to verify.
    success: 409,
    prepare: () => ({ body: { day: '2026-01-12' } }),
    unaudited: 'nothing of an organization changes',
  },
  'POST /v1/limits/replay': {
    prepare: async (context) => ({
      body: {
        agentIds: [await agentId(context)],
        from: '2026-01-12T00:00:00Z',
        to: '2026-01-13T00:00:00Z',
        limits: { rpmLimit: 30, budgets: [{ window: 'day', cents: 500 }] },
      },
    }),
    unaudited: 'changes nothing',
  },
  'GET /v1/usage/summary': { otherProject: 200, prepare: async () => ({}) },
  'GET /v1/usage/timeseries': { otherProject: 200, prepare: async () => ({}) },
  'GET /v1/usage/breakdown': { otherProject: 200, prepare: async () => ({ query: { by: 'model' } }) },
  'GET /v1/usage/export': { otherProject: 200, prepare: async () => ({}) },
  'GET /v1/usage/refusals': { otherProject: 200, prepare: async () => ({}) },
  'GET /v1/usage/rejected-calls': {
    prepare: async (context) => ({ query: { agentId: await agentId(context), reason: 'rpm' } }),
  },
  'GET /v1/usage/calls': {
    prepare: async (context) => ({ query: { agentId: await agentId(context), status: '4xx' } }),
  },
  'GET /v1/usage/logs': {
    prepare: async (context) => ({ query: { agentId: await agentId(context), status: '2xx' } }),
  },
  'GET /v1/usage/logs/:id': {
    prepare: async (context) => {
      const { sql } = context.plane.database;
      const nowMs = Date.now();
      const { orgId } = context.owner;
      const ids = { orgId, agentId: await agentId(context), keyId: newId(), accountId: newId() };
      const record = usageRecord({ id: uuidv7(nowMs), startedAtMs: nowMs, ...ids });
      await createIngest(sql).report({ dataPlaneId: 'd', records: [record] });
      return { params: { id: record.id! } };
    },
  },
  'GET /v1/usage/agents': {
    otherProject: 200,
    prepare: async (context) => {
      await agentId(context);
      return {};
    },
  },
  'GET /v1/usage/agents/compare': {
    prepare: async (context) => ({ query: { agentIds: `${await agentId(context)},${await agentId(context)}` } }),
  },
  'GET /v1/usage/agents/:agentId': ofOneAgent,
  'GET /v1/usage/agents/:agentId/summary': ofOneAgent,
  'GET /v1/usage/agents/:agentId/timeseries': ofOneAgent,
  'GET /v1/usage/agents/:agentId/providers': ofOneAgent,
  'GET /v1/usage/agents/:agentId/logs': ofOneAgent,
  'GET /v1/usage/agents/:agentId/export': ofOneAgent,
};
