/**
 * Two organizations with their agents: without effective limits, with limits per minute, with hard and soft budgets,
 * and one agent for each burst.
 */
import type { ApiResponse } from '../../fixtures/api-call.js';
import type { Stack, Tenant } from '../../fixtures/stack.js';
import { PROVIDER_CREDENTIALS } from '../../stand-in-providers/provider-credentials.js';
import { type AgentLimits, createAgentLimits } from '../evidence/evidence-types.js';
import type { BurstKind, PlannedBurst } from '../faults/limit-burst-plan.js';
import { CUSTOM_PROVIDER_KEY } from '../provider-settings.js';

export interface ChaosAgent extends AgentLimits {
  readonly id: string;
  readonly token: string;
}

export interface Tenants {
  /** All agents of the run. */
  readonly agents: readonly ChaosAgent[];
  /** Agents that call during the whole run. */
  readonly longLivedAgents: readonly ChaosAgent[];
  /** Agents of the bursts, in the order of the plan. */
  readonly bursts: readonly ChaosAgent[];
  /** Agents without limits, for the calls after the faults. */
  readonly steady: readonly ChaosAgent[];
  /** Signing secrets of the webhook endpoints, by organization. */
  readonly webhookSecrets: ReadonlyMap<string, string>;
}

interface TenantOptions {
  readonly minutes: number;
  readonly bursts: readonly PlannedBurst[];
  readonly customProviderUrl: string;
  readonly receiverUrl: string;
}

const ORGANIZATIONS = ['a', 'b'];
export const CUSTOM_PROVIDER_SLUG = 'own';
const CENT_NANOS = 10_000_000;
const UNLIMITED = { rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 };
/** So low that traffic reaches it within seconds whenever the store is up for that long. */
const RPM_LIMIT = 15;
const TPM_LIMIT = 300;
/** Of the calls that such an agent makes, so that the budget is spent before the run ends. */
const HARD_CENTS_PER_MINUTE = 1;
const SOFT_CENTS_PER_MINUTE = 0.5;
/** A few calls of a burst reach each of these limits. */
const BURST_LIMITS: Readonly<Record<BurstKind, Partial<AgentLimits>>> = {
  hard: { budgetNanos: 5 * CENT_NANOS, hardBudget: true, rejectsWithoutStore: true },
  soft: { budgetNanos: 3 * CENT_NANOS },
  rpm: { rpmLimit: 10 },
  rpd: { rpdLimit: 10 },
  tpm: { tpmLimit: 3_000 },
};
const CONCURRENT_CREATIONS = 6;

export async function createTenants(stack: Stack, options: TenantOptions): Promise<Tenants> {
  const { minutes, bursts, customProviderUrl, receiverUrl } = options;
  const tenants: Tenant[] = [];
  const webhookSecrets = new Map<string, string>();
  for (const name of ORGANIZATIONS) {
    const tenant = await stack.signUpTenant();
    const fields = { slug: CUSTOM_PROVIDER_SLUG, displayName: 'Own', baseUrl: customProviderUrl, authType: 'bearer' };
    expectCreated(await tenant.call('POST', '/v1/custom-providers', fields));
    const events = ['agent.budget_exceeded', 'usage.threshold'];
    const { endpoint } = expectCreated(
      await tenant.call('POST', '/v1/webhooks', { url: `${receiverUrl}/${name}`, events }),
    );
    webhookSecrets.set(name, endpoint.secret);
    tenants.push(tenant);
  }
  const made = async (all: readonly AgentLimits[]): Promise<ChaosAgent[]> => {
    const agents: ChaosAgent[] = [];
    for (let at = 0; at < all.length; at += CONCURRENT_CREATIONS) {
      const few = all.slice(at, at + CONCURRENT_CREATIONS);
      const tenantOf = ({ agent }: AgentLimits): Tenant => tenants[ORGANIZATIONS.indexOf(agent.at(-1)!)]!;
      agents.push(...(await Promise.all(few.map((limits) => createAgent(tenantOf(limits), limits)))));
    }
    return agents;
  };
  const lasting = await made(ORGANIZATIONS.flatMap((name) => longLivedAgentLimits(name, minutes)));
  const steady = await made(ORGANIZATIONS.map((name) => createAgentLimits(`steady-${name}`, {})));
  const burstAgents = await made(
    bursts.map(({ kind }, at) => createAgentLimits(`${kind}-${at}-${ORGANIZATIONS[at % 2]}`, BURST_LIMITS[kind])),
  );
  return {
    agents: [...lasting, ...steady, ...burstAgents],
    longLivedAgents: lasting,
    steady,
    bursts: burstAgents,
    webhookSecrets,
  };
}

function longLivedAgentLimits(organization: string, minutes: number): AgentLimits[] {
  const cents = (perMinute: number): number => Math.max(1, Math.round(perMinute * minutes)) * CENT_NANOS;
  const hard = { budgetNanos: cents(HARD_CENTS_PER_MINUTE), hardBudget: true, rejectsWithoutStore: true };
  return [
    createAgentLimits(`wide-${organization}`, {}),
    createAgentLimits(`narrow-${organization}`, { rpmLimit: RPM_LIMIT }),
    createAgentLimits(`tokens-${organization}`, { tpmLimit: TPM_LIMIT }),
    createAgentLimits(`hard-${organization}`, hard),
    createAgentLimits(`soft-${organization}`, { budgetNanos: cents(SOFT_CENTS_PER_MINUTE) }),
  ];
}

async function createAgent(tenant: Tenant, limits: AgentLimits): Promise<ChaosAgent> {
  const { rpmLimit, rpdLimit, tpmLimit, budgetNanos, hardBudget, rejectsWithoutStore } = limits;
  const { id } = await tenant.createAgent({
    name: limits.agent,
    ...UNLIMITED,
    ...(rpmLimit === null ? {} : { rpmLimit }),
    ...(rpdLimit === null ? {} : { rpdLimit }),
    ...(tpmLimit === null ? {} : { tpmLimit }),
    ...(budgetNanos === null ? {} : { budgetCentsMonthly: budgetNanos / CENT_NANOS }),
    ...(hardBudget ? { budgetMode: 'hard' } : {}),
    onStoreLoss: rejectsWithoutStore ? 'refuse' : 'allow',
  });
  await tenant.createAccount(id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  if (rpmLimit === null && rpdLimit === null && tpmLimit === null && budgetNanos === null) {
    await tenant.createAccount(id, 's3', { ...PROVIDER_CREDENTIALS.s3 });
    await tenant.createAccount(id, CUSTOM_PROVIDER_SLUG, { apiKey: CUSTOM_PROVIDER_KEY });
  }
  return { ...limits, id, token: await tenant.createToken(id) };
}

function expectCreated(answer: ApiResponse): ApiResponse['body'] {
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
