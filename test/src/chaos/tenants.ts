/** Two organizations with their agents: without limits that bind, with a limit per minute, with hard and soft budgets. */
import type { ApiResponse } from '../control-plane.js';
import { REAL } from '../providers/credentials.js';
import type { Stack, Tenant } from '../stack.js';
import type { AgentTerms } from './history.js';
import { OWN_KEY } from './provider-settings.js';

export interface ChaosAgent extends AgentTerms {
  readonly id: string;
  readonly token: string;
}

export interface Tenants {
  readonly agents: readonly ChaosAgent[];
  /** Signing secrets of the webhook endpoints, by organization. */
  readonly webhookSecrets: ReadonlyMap<string, string>;
}

const ORGANIZATIONS = ['a', 'b'];
export const OWN_SLUG = 'own';
const CENT_NANOS = 10_000_000;
const UNBOUND = { rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 };
/** So low that it is reached within seconds, wherever the store is there for as long. */
const RPM = 15;
/** Of the calls that the lanes of such an agent make, so that the budget is spent before the run ends. */
const HARD_CENTS_PER_MINUTE = 1;
const SOFT_CENTS_PER_MINUTE = 0.5;

export async function makeTenants(
  stack: Stack,
  minutes: number,
  ownProviderUrl: string,
  receiverUrl: string,
): Promise<Tenants> {
  const agents: ChaosAgent[] = [];
  const webhookSecrets = new Map<string, string>();
  for (const name of ORGANIZATIONS) {
    const tenant = await stack.tenant();
    const fields = { slug: OWN_SLUG, displayName: 'Own', baseUrl: ownProviderUrl, authType: 'bearer' };
    created(await tenant.call('POST', '/v1/custom-providers', fields));
    const events = ['agent.budget_exceeded', 'usage.threshold'];
    const { endpoint } = created(await tenant.call('POST', '/v1/webhooks', { url: `${receiverUrl}/${name}`, events }));
    webhookSecrets.set(name, endpoint.secret);
    for (const agent of termsOf(name, minutes)) agents.push(await makeAgent(tenant, agent));
  }
  return { agents, webhookSecrets };
}

function termsOf(organization: string, minutes: number): AgentTerms[] {
  const terms = (agent: string, fields: Partial<AgentTerms>): AgentTerms => ({
    agent: `${agent}-${organization}`,
    rpmLimit: null,
    budgetNanos: null,
    hardBudget: false,
    refusesWithoutStore: false,
    ...fields,
  });
  const cents = (perMinute: number): number => Math.max(1, Math.round(perMinute * minutes)) * CENT_NANOS;
  return [
    terms('wide', {}),
    terms('narrow', { rpmLimit: RPM }),
    terms('hard', { budgetNanos: cents(HARD_CENTS_PER_MINUTE), hardBudget: true, refusesWithoutStore: true }),
    terms('soft', { budgetNanos: cents(SOFT_CENTS_PER_MINUTE) }),
  ];
}

async function makeAgent(tenant: Tenant, terms: AgentTerms): Promise<ChaosAgent> {
  const { rpmLimit, budgetNanos, hardBudget, refusesWithoutStore } = terms;
  const { id } = await tenant.agent({
    name: terms.agent,
    ...UNBOUND,
    ...(rpmLimit === null ? {} : { rpmLimit }),
    ...(budgetNanos === null ? {} : { budgetCentsMonthly: budgetNanos / CENT_NANOS }),
    ...(hardBudget ? { budgetMode: 'hard' } : {}),
    ...(refusesWithoutStore ? { onStoreLoss: 'refuse' } : {}),
  });
  await tenant.account(id, 'openai', { apiKey: REAL.openai });
  await tenant.account(id, 's3', { ...REAL.s3 });
  await tenant.account(id, OWN_SLUG, { apiKey: OWN_KEY });
  return { ...terms, id, token: await tenant.token(id) };
}

function created(answer: ApiResponse): ApiResponse['body'] {
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
