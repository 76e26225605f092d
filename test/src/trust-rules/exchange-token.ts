/** Creates trust rules and exchanges tokens at `POST /v1/token`, as a workload does. */
import type { Member } from '../fixtures/control-plane.js';

export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
export const CONDITIONS = [{ claim: 'repository_id', values: ['4711', '4712'] }];

interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted field by field
  readonly body: any;
}

export async function postForm(url: string, fields: Readonly<Record<string, string>> | string): Promise<TokenAnswer> {
  const response = await fetch(`${url}/v1/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export const exchangeToken = (url: string, ruleId: string, token: string): Promise<TokenAnswer> =>
  postForm(url, { grant_type: GRANT_TYPE, trust_rule: ruleId, subject_token: token, subject_token_type: JWT_TYPE });

export async function createAgent(owner: Member, name = 'Deployer'): Promise<{ id: string; projectId: string }> {
  const project = await owner.call('POST', '/v1/projects', { name: `Project of ${name}` });
  const projectId: string = project.body.project.id;
  const { body } = await owner.call('POST', '/v1/agents', { projectId, name });
  return { id: body.agent.id, projectId };
}

export interface CreatedRule {
  readonly id: string;
  readonly audience: string;
  readonly agentId: string;
}

/** Creates an agent and a rule for it. */
export async function createRule(owner: Member, issuer: string, more: object = {}): Promise<CreatedRule> {
  const { id: agentId } = await createAgent(owner);
  const input = { name: 'deploy', agentId, issuer, conditions: CONDITIONS, ...more };
  const { status, body } = await owner.call('POST', '/v1/trust-rules', input);
  if (status !== 201) throw new Error(`the rule was not created: ${status} ${JSON.stringify(body)}`);
  return body.rule;
}
