/**
 * One provider of the catalogue behind the real data plane, in front of a recorder that stands for all of its origins.
 * Contexts come from the control plane's code through the data plane's decoder, as over the plane link.
 */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildUpstreams } from '@acg/controlplane/providers/build-upstream';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { loadProviderFiles } from '@acg/controlplane/providers/catalogue/load-provider-files';
import type { Provider } from '@acg/controlplane/providers/catalogue/provider';
import { ProviderMetering } from '@acg/dataplane/call/provider-metering';
import { createContext, GATEWAY_TOKEN, ProxyFixture } from '@acg/dataplane/call/testing/proxy-fixture';
import { decodeContext } from '@acg/dataplane/context/decode-context';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { AgentContext, type ICallPolicy } from '@acg/proto/messages';

export interface RecordedCall {
  readonly method: string;
  /** Path and query as they arrived. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

interface StandInResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

export const ALL_ALLOWED = { allowSensitivePaths: true, allowOpaque: true };
const NOTHING_ALLOWED = { allowSensitivePaths: false, allowOpaque: false };

export class ProvidersUnderTest {
  readonly calls: RecordedCall[] = [];
  respond: (call: RecordedCall) => StandInResponse = () => ({ status: 200 });
  /** The providers with every origin at the recorder. */
  readonly catalogue: Catalogue;

  private constructor(
    readonly recorder: Server,
    readonly recorderOrigin: string,
    readonly gateway: ProxyFixture,
  ) {
    const files = loadProviderFiles(null);
    const overrides = files.map(({ slug, origins }) => {
      const baseUrls = new Map(Object.keys(origins).map((origin) => [origin, recorderOrigin]));
      return [slug, { baseUrls, tokenUrls: new Map<string, string>(), standIn: null }] as const;
    });
    this.catalogue = new Catalogue(files, new Map(overrides));
  }

  static async start(): Promise<ProvidersUnderTest> {
    const recorder = createServer();
    await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve));
    const metering = new ProviderMetering(
      new CallCostCalculator(Date.now),
      { appendDeferredUsage: () => {} },
      1_048_576,
    );
    const gateway = await ProxyFixture.start(createContext([]), {}, metering);
    const { port } = recorder.address() as AddressInfo;
    const suite = new ProvidersUnderTest(recorder, `http://127.0.0.1:${port}`, gateway);
    recorder.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const call = {
          method: request.method!,
          url: request.url!,
          headers: request.headers,
          rawHeaders: request.rawHeaders,
          body: Buffer.concat(chunks),
        };
        suite.calls.push(call);
        const { status, headers = {}, body = '' } = suite.respond(call);
        response.writeHead(status, headers).end(body);
      });
    });
    return suite;
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    this.recorder.closeAllConnections();
    this.recorder.close();
  }

  /** The agent has an account with the provider. Returns its context. */
  assign(
    provider: Provider,
    credentials: Readonly<Record<string, string>>,
    permissions = NOTHING_ALLOWED,
    policy: ICallPolicy | null = null,
  ) {
    const account = '00000000-0000-7000-8000-000000000005';
    const { upstream, namedOrigins } = buildUpstreams(provider, 'org-1', account, credentials, permissions);
    const withPolicy = policy === null ? {} : { policy };
    const message = AgentContext.encode({
      keyId: 'key-1',
      keyScope: 'agent',
      orgId: 'org-1',
      projectId: 'project-1',
      agentId: 'agent-1',
      agentStatus: 'active',
      rpmLimit: 1_000_000,
      rpdLimit: 1_000_000,
      mcpSessionKey: 'session-key',
      spendMonth: '2026-11',
      upstreams: [{ ...upstream, ...withPolicy }],
      namedOrigins: namedOrigins.map((one) => ({ ...one, ...withPolicy })),
    }).finish();
    const context = decodeContext(AgentContext.decode(message));
    this.gateway.lookup = { context, rejection: null };
    return context;
  }

  /** A call of the agent; the target follows `/v1/proxy/`. */
  async call(target: string, init: RequestInit = {}): Promise<Response> {
    this.calls.length = 0;
    return fetch(`http://127.0.0.1:${this.gateway.port}/v1/proxy/${target}`, { redirect: 'manual', ...init });
  }
}

export const bearer = { authorization: `Bearer ${GATEWAY_TOKEN}` };
