/**
 * Two organizations with their agents: without limits that bind, with limits per minute, with hard and soft budgets, and
 * one of its own for each burst.
 */
import type { ApiResponse } from '../api-call.js';
import { REAL } from '../providers/credentials.js';
import type { Stack, Tenant } from '../stack.js';
import type { BurstKind, PlannedBurst } from './burst-plan.js';
import { type AgentTerms, termsOf } from './history.js';
import { OWN_KEY } from './provider-settings.js';

export interface ChaosAgent extends AgentTerms {
  readonly id: string;
  readonly token: string;
}

export interface Tenants {
  /** All of them. */
  readonly agents: readonly ChaosAgent[];
  /** Those that call from the beginning to the end. */
  readonly lasting: readonly ChaosAgent[];
  /** As the bursts were planned. */
  readonly bursts: readonly ChaosAgent[];
  /** Without limits, for the calls after the faults. */
  readonly steady: readonly ChaosAgent[];
  /** Signing secrets of the webhook endpoints, by organization. */
  readonly webhookSecrets: ReadonlyMap<string, string>;
}

interface TenantOptions {
  readonly minutes: number;
  readonly bursts: readonly PlannedBurst[];
  readonly ownProviderUrl: string;
  readonly receiverUrl: string;
}

const ORGANIZATIONS = ['a', 'b'];
export const OWN_SLUG = 'own';
const CENT_NANOS = 10_000_000;
const UNBOUND = { rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 };
/** So low that it is reached within seconds, wherever the store is there for as long. */
const RPM = 15;
const TPM = 300;
/** Of the calls that the lanes of such an agent make, so that the budget is spent before the run ends. */
const HARD_CENTS_PER_MINUTE = 1;
const SOFT_CENTS_PER_MINUTE = 0.5;
/** Each is reached by a few of a burst's calls. */
const BURST_TERMS: Readonly<Record<BurstKind, Partial<AgentTerms>>> = {
  hard: { budgetNanos: 5 * CENT_NANOS, hardBudget: true, refusesWithoutStore: true },
  soft: { budgetNanos: 3 * CENT_NANOS },
  rpm: { rpmLimit: 10 },
  rpd: { rpdLimit: 10 },
  tpm: { tpmLimit: 3_000 },
};
const MADE_AT_ONCE = 6;

export async function makeTenants(stack: Stack, options: TenantOptions): Promise<Tenants> {
  const { minutes, bursts, ownProviderUrl, receiverUrl } = options;
  const tenants: Tenant[] = [];
  const webhookSecrets = new Map<string, string>();
  for (const name of ORGANIZATIONS) {
    const tenant = await stack.tenant();
    const fields = { slug: OWN_SLUG, displayName: 'Own', baseUrl: ownProviderUrl, authType: 'bearer' };
    created(await tenant.call('POST', '/v1/custom-providers', fields));
    const events = ['agent.budget_exceeded', 'usage.threshold'];
    const { endpoint } = created(await tenant.call('POST', '/v1/webhooks', { url: `${receiverUrl}/${name}`, events }));
    webhookSecrets.set(name, endpoint.secret);
    tenants.push(tenant);
  }
  const made = async (all: readonly AgentTerms[]): Promise<ChaosAgent[]> => {
    const agents: ChaosAgent[] = [];
    for (let at = 0; at < all.length; at += MADE_AT_ONCE) {
      const few = all.slice(at, at + MADE_AT_ONCE);
      const tenantOf = ({ agent }: AgentTerms): Tenant => tenants[ORGANIZATIONS.indexOf(agent.at(-1)!)]!;
      agents.push(...(await Promise.all(few.map((terms) => makeAgent(tenantOf(terms), terms)))));
    }
    return agents;
  };
  const lasting = await made(ORGANIZATIONS.flatMap((name) => lastingTerms(name, minutes)));
  const steady = await made(ORGANIZATIONS.map((name) => termsOf(`steady-${name}`, {})));
  const burstAgents = await made(
    bursts.map(({ kind }, at) => termsOf(`${kind}-${at}-${ORGANIZATIONS[at % 2]}`, BURST_TERMS[kind])),
  );
  return { agents: [...lasting, ...steady, ...burstAgents], lasting, steady, bursts: burstAgents, webhookSecrets };
}

function lastingTerms(organization: string, minutes: number): AgentTerms[] {
  const cents = (perMinute: number): number => Math.max(1, Math.round(perMinute * minutes)) * CENT_NANOS;
  const hard = { budgetNanos: cents(HARD_CENTS_PER_MINUTE), hardBudget: true, refusesWithoutStore: true };
  return [
    termsOf(`wide-${organization}`, {}),
    termsOf(`narrow-${organization}`, { rpmLimit: RPM }),
    termsOf(`tokens-${organization}`, { tpmLimit: TPM }),
    termsOf(`hard-${organization}`, hard),
    termsOf(`soft-${organization}`, { budgetNanos: cents(SOFT_CENTS_PER_MINUTE) }),
  ];
}

async function makeAgent(tenant: Tenant, terms: AgentTerms): Promise<ChaosAgent> {
  const { rpmLimit, rpdLimit, tpmLimit, budgetNanos, hardBudget, refusesWithoutStore } = terms;
  const { id } = await tenant.agent({
    name: terms.agent,
    ...UNBOUND,
    ...(rpmLimit === null ? {} : { rpmLimit }),
    ...(rpdLimit === null ? {} : { rpdLimit }),
    ...(tpmLimit === null ? {} : { tpmLimit }),
    ...(budgetNanos === null ? {} : { budgetCentsMonthly: budgetNanos / CENT_NANOS }),
    ...(hardBudget ? { budgetMode: 'hard' } : {}),
    onStoreLoss: refusesWithoutStore ? 'refuse' : 'allow',
  });
  await tenant.account(id, 'openai', { apiKey: REAL.openai });
  if (rpmLimit === null && rpdLimit === null && tpmLimit === null && budgetNanos === null) {
    await tenant.account(id, 's3', { ...REAL.s3 });
    await tenant.account(id, OWN_SLUG, { apiKey: OWN_KEY });
  }
  return { ...terms, id, token: await tenant.token(id) };
}

function created(answer: ApiResponse): ApiResponse['body'] {
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
