import { newAgent } from './provisioning.js';
import type { Examples } from './route-example.js';

export const ISSUER_EXAMPLES: Examples = {
  'GET /v1/issuer': { prepare: async (context) => ({ query: { agentId: (await newAgent(context)).id } }) },
  'PATCH /v1/issuer': {
    async prepare({ owner }) {
      const { issuer } = (await owner.call('GET', '/v1/issuer')).body;
      return { body: { manualRotation: !issuer.manualRotation } };
    },
  },
  'POST /v1/issuer/keys': {
    async prepare({ owner }) {
      // Only one next key at a time: the former example's one is activated.
      await owner.call('PATCH', '/v1/issuer', { manualRotation: true });
      const { issuer } = (await owner.call('GET', '/v1/issuer')).body;
      const next = issuer.keys.find(({ state }: { state: string }) => state === 'next');
      if (next !== undefined) await owner.call('POST', `/v1/issuer/keys/${next.id}/activate`);
      return {};
    },
    success: 201,
  },
  'POST /v1/issuer/keys/:id/activate': {
    async prepare({ owner }) {
      await owner.call('PATCH', '/v1/issuer', { manualRotation: true });
      await owner.call('POST', '/v1/issuer/keys');
      const { issuer } = (await owner.call('GET', '/v1/issuer')).body;
      return { params: { id: issuer.keys.find(({ state }: { state: string }) => state === 'next').id } };
    },
  },
};
