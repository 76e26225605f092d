/** The whole gateway as real processes on ephemeral ports: one control plane, one or more data planes, own database. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Secret } from '@acg/base/secret';
import { type ApiResponse, callApi } from './api-call.js';
import { freePort } from './free-port.js';
import { TestPlane } from './plane-process.js';
import { SecretsInPlay } from './secrets-in-play.js';

export interface StackOptions {
  /** Built-in providers' base URLs, e.g. `{ openai: 'http://127.0.0.1:1234' }`. */
  readonly providers?: Readonly<Record<string, string>>;
  readonly prices?: unknown;
  readonly redisUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A migrated or empty database; absent: a new one from the test server, dropped at the end. */
  readonly database?: StackDatabase;
  /** Options of Node for every plane. */
  readonly nodeOptions?: readonly string[];
  /** Extra environment of data planes only. */
  readonly dataPlaneEnv?: Readonly<Record<string, string>>;
}

interface StackDatabase {
  readonly url: Secret;
  drop(): Promise<void>;
}

/** Of the owner of every {@link Tenant}. */
export const TENANT_PASSWORD = 'correct horse battery';

/** One organization with its owner's session and helpers over the public API. */
export interface Tenant {
  readonly session: string;
  readonly orgId: string;
  readonly projectId: string;
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>;
  agent(fields?: Readonly<Record<string, unknown>>): Promise<{ id: string; slug: string }>;
  /** A gateway token of scope `agent`. */
  token(agentId: string): Promise<string>;
  account(agentId: string, providerSlug: string, credentials: Readonly<Record<string, string>>): Promise<string>;
}

export class Stack {
  readonly #dataPlanes: TestPlane[] = [];
  readonly #homes: string[] = [];
  readonly #secrets = new SecretsInPlay();

  private constructor(
    readonly options: StackOptions,
    readonly database: StackDatabase,
    readonly control: TestPlane,
    readonly home: string,
    readonly apiUrl: string,
    readonly grpcPort: number,
  ) {}

  static async start(options: StackOptions = {}): Promise<Stack> {
    // Loaded on demand: it exists inside the test runner only, and the bench uses this class too.
    const database = options.database ?? (await (await import('./test-database.js')).createTestDatabase());
    const home = mkdtempSync(join(tmpdir(), 'acg-stack-'));
    const env: Record<string, string> = {
      GATEWAY_DATA_DIR: join(home, 'control'),
      DATABASE_URL: database.url.reveal(),
      MASTER_KEYS: `test:${randomBytes(32).toString('base64')}`,
      JWT_SECRET: randomBytes(32).toString('hex'),
      INTERNAL_TOKEN: 'test-internal-token-0123456789-0123456789',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'info',
      ...options.env,
    };
    if (options.providers !== undefined) {
      env.PROVIDERS_FILE = join(home, 'providers.json');
      const entries = Object.entries(options.providers).map(([slug, baseUrl]) => [slug, { baseUrl }]);
      writeFileSync(env.PROVIDERS_FILE, JSON.stringify(Object.fromEntries(entries)));
    }
    if (options.prices !== undefined) {
      env.PRICES_FILE = join(home, 'prices.json');
      writeFileSync(env.PRICES_FILE, JSON.stringify(options.prices));
    }
    const apiUrl = `http://127.0.0.1:${await freePort()}`;
    const control = new TestPlane('controlplane', env, undefined, options.nodeOptions);
    const stack = new Stack(options, database, control, home, apiUrl, await freePort());
    await stack.startControl();
    return stack;
  }

  /** What PRICES_FILE says from now on; needs `prices` in the options. */
  writePrices(text: string): void {
    writeFileSync(join(this.home, 'prices.json'), text);
  }

  /** Starts the control plane, again on the same ports after it was killed. */
  async startControl(): Promise<void> {
    await this.control.start({
      CONTROLPLANE_PORT: new URL(this.apiUrl).port,
      GRPC_LISTEN: `127.0.0.1:${this.grpcPort}`,
    });
  }

  /** A data plane of its own data directory; `url` is where agents call. */
  async addDataPlane(
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ plane: TestPlane; url: string; metricsUrl: string }> {
    const dataDir = mkdtempSync(join(this.home, 'data-'));
    this.#homes.push(dataDir);
    const settings = {
      GATEWAY_DATA_DIR: dataDir,
      DATAPLANE_PORT: '0',
      DATAPLANE_METRICS_PORT: '0',
      CONTROLPLANE_GRPC: `127.0.0.1:${this.grpcPort}`,
      INTERNAL_TOKEN: 'test-internal-token-0123456789-0123456789',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'info',
      ...(this.options.redisUrl === undefined ? {} : { REDIS_URL: this.options.redisUrl }),
      ...this.options.dataPlaneEnv,
      ...env,
    };
    const plane = new TestPlane('dataplane', settings, undefined, this.options.nodeOptions);
    this.#dataPlanes.push(plane);
    const ready = await plane.start();
    const metricsUrl = `http://127.0.0.1:${ready.metricsPort}`;
    await until(async () => (await fetch(`${metricsUrl}/readyz`)).status === 200, 'data plane ready');
    return { plane, url: `http://127.0.0.1:${ready.port}`, metricsUrl };
  }

  call(method: string, path: string, token: string | null, body?: unknown): Promise<ApiResponse> {
    return callApi(this.apiUrl, method, path, { token, body }, this.#secrets);
  }

  /** Signs a new organization up. */
  async tenant(): Promise<Tenant> {
    const signup = await this.call('POST', '/v1/auth/signup', null, {
      email: `${randomBytes(6).toString('hex')}@example.com`,
      password: TENANT_PASSWORD,
      name: 'Owner',
      orgName: 'Acme',
    });
    expectStatus(signup, 201);
    const session: string = signup.body.token;
    const call = (method: string, path: string, body?: unknown) => this.call(method, path, session, body);
    const projects = await call('GET', '/v1/projects');
    const projectId: string = projects.body.projects[0].id;
    return {
      session,
      orgId: signup.body.org.id,
      projectId,
      call,
      async agent(fields = {}) {
        const answer = await call('POST', '/v1/agents', { projectId, name: 'Agent', ...fields });
        expectStatus(answer, 201);
        return answer.body.agent;
      },
      async token(agentId) {
        const answer = await call('POST', '/v1/api-keys', { name: 'key', agentId });
        expectStatus(answer, 201);
        return answer.body.secretKey;
      },
      async account(agentId, providerSlug, credentials) {
        const answer = await call('POST', '/v1/providers/accounts', { agentId, providerSlug, credentials });
        expectStatus(answer, 201);
        return answer.body.account.id;
      },
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#dataPlanes.map((plane) => plane.stop()));
    await this.control.stop();
    await this.database.drop();
    rmSync(this.home, { recursive: true, force: true });
    this.#secrets.assertNoneIn([this.control, ...this.#dataPlanes].map(({ output }) => output).join(''));
  }
}

function expectStatus(answer: ApiResponse, status: number): void {
  if (answer.status !== status)
    throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** Waits for a condition that becomes true by itself; an error in it counts as not yet. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  what: string,
  timeoutMs = 300_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown = null;
  while (Date.now() < deadline) {
    try {
      if (await condition()) return;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`timed out waiting for: ${what}${last === null ? '' : ` (${String(last)})`}`);
}
