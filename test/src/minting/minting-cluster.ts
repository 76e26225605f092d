/**
 * Three control planes on one database, whose clocks differ by a minute each, and two data planes, all as processes; a
 * token endpoint and a provider that takes its tokens while they are valid.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { type ApiResponse, callApi } from '../fixtures/api-call.js';
import { freePort } from '../fixtures/free-port.js';
import { PlaneProcess } from '../fixtures/plane-process.js';
import { RedisServer } from '../fixtures/redis-server.js';
import { SecretLeakDetector } from '../fixtures/secret-leak-detector.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { clientOf, RotatingGrants } from '../stand-in-providers/rotating-grants.js';
import { TokenEndpoint } from '../stand-in-providers/token-endpoint.js';

const CLIENT_SECRET = 'app-secret-0123456789';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

/** Of many calls at once, most wait for the provider and take no CPU. */
const PROVIDER_LATENCY_MS = 30;
/** The clocks of the second and of the third control plane, ms off. */
const CLOCK_OFFSETS_MS = [60_000, -60_000];
const SKEW_CLOCK = `
const offset = Number(process.env.CLOCK_OFFSET_MS);
const { now } = Date;
globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now() + offset);
    else super(...given);
  }
  static now() {
    return now() + offset;
  }
};`;

interface RunningPlane {
  readonly plane: PlaneProcess;
  readonly apiUrl: string;
  readonly grpcPort: number;
}

export interface MintedAccount {
  readonly id: string;
  /** Client id at the token endpoint. */
  readonly client: string;
  /** One call of the agent, through the data planes in turn. */
  call(): Promise<Response>;
}

export class MintingCluster {
  readonly endpoint = new TokenEndpoint();
  readonly grants = new RotatingGrants(this.endpoint);
  readonly dataPlanes: string[] = [];
  /** Control planes; the first has the right clock. */
  readonly planes: RunningPlane[] = [];
  /** The last access token that the provider got, by client. */
  readonly received = new Map<string, string>();
  /** Ends the life of a token at the provider, ms of `performance.now()`. Absent: it has no end. */
  readonly endsAtMs = new Map<string, number>();
  #provider: Server;
  #stack!: Stack;
  #redis!: RedisServer;
  tenant!: Tenant;
  sql!: postgres.Sql;
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  readonly #skew = join(mkdtempSync(join(tmpdir(), 'skew-')), 'skew-clock.cjs');
  readonly #secrets = new SecretLeakDetector();
  #calls = 0;

  constructor() {
    this.#provider = createServer((request, response) => {
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      this.received.set(String(request.headers['x-client']), token);
      const isValid =
        this.endpoint.issued.includes(token) &&
        !this.grants.revoked.has(token) &&
        performance.now() < (this.endsAtMs.get(token) ?? Number.POSITIVE_INFINITY);
      const answer = (): unknown =>
        response.writeHead(isValid ? 200 : 401, { 'content-type': 'application/json' }).end('{"ok":true}');
      setTimeout(answer, PROVIDER_LATENCY_MS);
    });
  }

  async start(): Promise<void> {
    await this.endpoint.start();
    await new Promise<void>((resolve) => this.#provider.listen(0, '127.0.0.1', resolve));
    writeFileSync(this.#skew, SKEW_CLOCK);
    this.#redis = await RedisServer.start();
    const stack = await Stack.start({ redisUrl: this.#redis.url.href, env: { PUBLIC_URL: 'http://127.0.0.1:8080' } });
    this.#stack = stack;
    this.planes.push({ plane: stack.controlPlane, apiUrl: stack.apiUrl, grpcPort: stack.grpcPort });
    for (const offset of CLOCK_OFFSETS_MS) {
      const env = {
        ...stack.controlPlane.env,
        GATEWAY_DATA_DIR: mkdtempSync(join(stack.home, 'control-')),
        CLOCK_OFFSET_MS: String(offset),
      };
      const plane = new PlaneProcess('controlplane', env, undefined, ['--require', this.#skew]);
      const port = await freePort();
      const started = { plane, apiUrl: `http://127.0.0.1:${port}`, grpcPort: await freePort() };
      await startPlane(started);
      this.planes.push(started);
    }
    const addresses = this.planes.map(({ grpcPort }) => `127.0.0.1:${grpcPort}`);
    for (const list of [addresses, [...addresses].reverse()])
      this.dataPlanes.push((await stack.addDataPlane({ CONTROLPLANE_GRPC: list.join() })).url);
    this.tenant = await stack.signUpTenant();
    this.sql = postgres(stack.database.url.reveal(), { max: 4, onnotice: () => {} });
  }

  async stop(): Promise<void> {
    await this.sql?.end();
    for (const { plane } of this.planes.slice(1)) {
      plane.resume();
      await plane.stop();
    }
    this.#provider.closeAllConnections();
    this.#provider.close();
    this.endpoint.stop();
    await this.#stack?.stop();
    await this.#redis?.stop();
  }

  call(plane: number, method: string, path: string, body?: unknown, headers = {}): Promise<ApiResponse> {
    const token = this.tenant.session;
    return callApi(this.planes[plane]!.apiUrl, method, path, { token, body, headers }, this.#secrets);
  }

  /** An account whose client authenticates with assertions, or that a person has connected. */
  async createAccount(slug: string, method: object): Promise<MintedAccount> {
    const { port } = this.#provider.address() as AddressInfo;
    const definition = {
      credentials: { kind: 'api_key', fields: [], methods: [method] },
      origins: { default: `http://127.0.0.1:${port}` },
      inject: [],
      usage: { format: 'none' },
    };
    const made = await this.tenant.call('POST', '/v1/custom-providers', {
      slug,
      displayName: slug,
      definition,
    });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const agent = await this.tenant.createAgent({ rpmLimit: 1_000_000 });
    const client = `oauth.${slug}`;
    const pem = this.#key.export({ format: 'pem', type: 'pkcs8' }) as string;
    this.endpoint.trust(client, pem);
    const secret =
      'authorizationUrl' in (method as { token: object }).token ? { clientSecret: CLIENT_SECRET } : { privateKey: pem };
    const id = await this.tenant.createAccount(agent.id, slug, { method: 'oauth', clientId: client, ...secret });
    const token = await this.tenant.createToken(agent.id);
    const call = () =>
      fetch(`${this.dataPlanes[this.#calls++ % this.dataPlanes.length]}/v1/proxy/${slug}/me`, {
        headers: { authorization: `Bearer ${token}`, 'x-client': client },
      });
    return { id, client, call };
  }

  createClientAccount(slug: string): Promise<MintedAccount> {
    return this.createAccount(slug, {
      name: 'oauth',
      label: 'OAuth',
      kind: 'oauth2_client_credentials',
      fields: [
        { name: 'clientId', label: 'Client id', secret: false, required: true },
        { name: 'privateKey', label: 'Private key', kind: 'private_key', secret: true, required: true },
      ],
      token: {
        url: this.endpoint.url,
        clientId: '{clientId}',
        clientAuthentication: 'private_key_jwt',
        privateKey: '{privateKey}',
      },
      inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
    });
  }

  async createConnectedAccount(slug: string, rotation: 'strict' | 'grace'): Promise<MintedAccount> {
    const account = await this.createAccount(slug, {
      name: 'oauth',
      label: 'OAuth',
      kind: 'oauth2_authorization_code',
      fields: [
        { name: 'clientId', label: 'Client id', secret: false, required: true },
        { name: 'clientSecret', label: 'Client secret', secret: true, required: true },
      ],
      token: {
        url: this.endpoint.url,
        authorizationUrl: 'https://login.example.com/authorize',
        clientId: '{clientId}',
        clientSecret: '{clientSecret}',
        rotation,
      },
      inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
    });
    await this.connect(account);
    return account;
  }

  async connect({ id }: MintedAccount): Promise<void> {
    const begun = await this.call(0, 'POST', `/v1/providers/accounts/${id}/connect`, undefined, OWN_PAGE);
    const cookie = begun.headers.get('set-cookie')!.split(';')[0]!;
    const { path, parameters } = this.grants.agree(begun.body.url);
    const body = { redirectPath: path, ...parameters };
    const done = await this.call(0, 'POST', '/v1/connections', body, { ...OWN_PAGE, cookie });
    if (done.status !== 200) throw new Error(JSON.stringify(done.body));
  }

  /** Requests of a client to the token endpoint. */
  requestsOf({ client }: MintedAccount): number {
    return this.endpoint.requests.filter((request) => clientOf(request) === client).length;
  }
}

export const startPlane = ({ plane, apiUrl, grpcPort }: RunningPlane): Promise<unknown> =>
  plane.start({ CONTROLPLANE_PORT: new URL(apiUrl).port, GRPC_LISTEN: `127.0.0.1:${grpcPort}` });
