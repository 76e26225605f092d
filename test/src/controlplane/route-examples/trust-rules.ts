import { GRANT_TYPE, JWT_TYPE } from '../../trust-rules/exchange-token.js';
import { SigningKey, workloadClaims } from '../../trust-rules/stand-in-issuer.js';
import { newAgent } from './provisioning.js';
import type { ExampleContext, Examples } from './route-example.js';

const KEY = new SigningKey('k1');
const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const CONDITIONS = [{ claim: 'sub', values: ['system:serviceaccount:agents:triage'] }];
const jwks = () => ({ keys: [KEY.jwk] });

async function ruleInput(context: ExampleContext) {
  const agentId = (await newAgent(context)).id;
  const more = { keyLifetimeSeconds: 600, jtiOnce: false };
  return { name: 'Example', agentId, issuer: ISSUER, jwks: jwks(), conditions: CONDITIONS, ...more };
}

async function createRule(context: ExampleContext): Promise<{ id: string; audience: string }> {
  return (await context.owner.call('POST', '/v1/trust-rules', await ruleInput(context))).body.rule;
}

const byId = async (context: ExampleContext) => ({ params: { id: (await createRule(context)).id } });

export const TRUST_RULE_EXAMPLES: Examples = {
  'GET /v1/trust-rules': {
    async prepare(context) {
      const { id, projectId } = await newAgent(context);
      return { query: { agentId: id, projectId } };
    },
  },
  'POST /v1/trust-rules': { prepare: async (context) => ({ body: await ruleInput(context) }), success: 201 },
  'GET /v1/trust-rules/:id': { prepare: byId },
  'PATCH /v1/trust-rules/:id': {
    prepare: async (context) => ({
      ...(await byId(context)),
      body: { name: 'Renamed', conditions: CONDITIONS, keyLifetimeSeconds: 60, jtiOnce: true, jwks: jwks() },
    }),
  },
  'DELETE /v1/trust-rules/:id': { prepare: byId },
  'POST /v1/token': {
    oauthErrors: true,
    otherProject: 200,
    foreign: { trust_rule: 400 },
    async prepare(context) {
      const { id, audience } = await createRule(context);
      const token = KEY.sign(workloadClaims(ISSUER, audience, { sub: CONDITIONS[0]!.values[0] }));
      const body = { grant_type: GRANT_TYPE, trust_rule: id, subject_token: token, subject_token_type: JWT_TYPE };
      return { body };
    },
  },
};
