/**
 * The data plane's real server in this process, in front of stand-in providers. Upstreams come from the control plane's
 * catalogue through the data plane's decoder, as over the plane link; limits and usage are faked.
 */
import { buildUpstreams } from '@acg/controlplane/providers/build-upstream';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import type { CallMetering } from '@acg/dataplane/call/call-metering-interface';
import { GATEWAY_TOKEN, ProxyFixture } from '@acg/dataplane/call/testing/proxy-fixture';
import { decodeContext } from '@acg/dataplane/context/decode-context';
import type { IAgentContext, IUpstream } from '@acg/proto/messages';

interface GatewayAccount {
  readonly slug: string;
  /** Origin of the stand-in. */
  readonly origin: string;
  readonly credentials: Readonly<Record<string, string>>;
  /** For a custom provider. */
  readonly usageFormat?: 'openai' | 'anthropic';
  /** Overrides of the catalogue's fields, and all fields of a custom provider. */
  readonly upstream?: Partial<IUpstream>;
}

/** How an SDK reaches a provider: direct and proxied calls differ only in these two values. */
export interface ProviderRoute {
  /** Base URL before the provider's own path. */
  readonly baseUrl: string;
  readonly key: string;
}

export class InProcessGateway {
  private constructor(readonly fixture: ProxyFixture) {}

  /** `metering`: null fakes it. `changes`: overrides of the agent's context. */
  static async start(
    accounts: readonly GatewayAccount[],
    metering: CallMetering | null = null,
    changes: Partial<IAgentContext> = {},
  ): Promise<InProcessGateway> {
    const context = decodeContext({
      keyId: '00000000-0000-7000-8000-000000000001',
      keyScope: 'agent',
      orgId: '00000000-0000-7000-8000-000000000002',
      projectId: '00000000-0000-7000-8000-000000000003',
      agentId: '00000000-0000-7000-8000-000000000004',
      agentName: 'Agent',
      agentSlug: 'agent',
      agentStatus: 'active',
      rpmLimit: 1_000,
      rpdLimit: 100_000,
      spendMonth: '2026-01',
      upstreams: accounts.map(createUpstreamMessage),
      ...changes,
    });
    return new InProcessGateway(await ProxyFixture.start(context, {}, metering));
  }

  /** `http://127.0.0.1:port`. */
  get origin(): string {
    return `http://127.0.0.1:${this.fixture.port}`;
  }

  route(slug: string): ProviderRoute {
    return { baseUrl: `${this.origin}/v1/proxy/${slug}`, key: GATEWAY_TOKEN };
  }

  stop(): Promise<void> {
    return this.fixture.stop();
  }
}

const CATALOGUE = new Catalogue();

function createUpstreamMessage({ slug, origin, credentials, usageFormat, upstream }: GatewayAccount): IUpstream {
  const provider = CATALOGUE.get(slug);
  const built =
    provider === null
      ? { custom: true, publicSlug: 'custom', failure: { statuses: [500, 502, 503, 504] }, websocket: true }
      : buildUpstreams(provider, 'org', '', { ...credentials }).upstream;
  return {
    ...built,
    injection: provider?.injection({ ...credentials }).injection ?? { none: {} },
    providerSlug: slug,
    accountId: '00000000-0000-7000-8000-000000000005',
    accountStatus: 'active',
    origin,
    basePath: '',
    tenantAddress: false,
    fleetKey: '',
    circuitKey: `${slug} ${origin}`,
    usageFormat: usageFormat ?? built.usageFormat ?? 'none',
    sensitiveCalls: [],
    modelCalls: [],
    rulesId: '',
    ...upstream,
  };
}
