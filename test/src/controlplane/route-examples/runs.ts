import { newAgent } from './provisioning.js';
import type { ExampleContext, Examples } from './route-example.js';

async function newRun(context: ExampleContext): Promise<string> {
  const { id } = await newAgent(context);
  const body = { agentId: id, budgetCents: 250, expiresIn: 1_800, label: 'nightly report' };
  return (await context.owner.call('POST', '/v1/runs', body)).body.run.id;
}

export const RUN_EXAMPLES: Examples = {
  'GET /v1/runs': {
    prepare: async (context) => {
      await newRun(context);
      return {};
    },
    otherProject: 200,
  },
  'POST /v1/runs': {
    prepare: async (context) => ({
      body: {
        agentId: (await newAgent(context)).id,
        budgetCents: 250,
        expiresIn: 1_800,
        label: 'nightly',
        policy: null,
      },
    }),
    success: 201,
  },
  'GET /v1/runs/:id': { prepare: async (context) => ({ params: { id: await newRun(context) } }) },
  'DELETE /v1/runs/:id': { prepare: async (context) => ({ params: { id: await newRun(context) } }) },
};
