/** A real control plane in this process, on its own database and ephemeral ports, for one test file. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { SessionTokens } from '@acg/controlplane/auth/session-token';
import { type Config, loadConfig, outboxDirectory } from '@acg/controlplane/config';
import type { Role } from '@acg/controlplane/http/access';
import { buildService, type Service } from '@acg/controlplane/service';
import { afterAll, beforeAll } from 'vitest';
import { type ApiResponse, type CallOptions, callApi } from './api-call.js';
import { SecretsInPlay } from './secrets-in-play.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

export interface Member {
  readonly userId: string;
  readonly orgId: string;
  readonly token: string;
  /** With the header `cookie`, the session is that cookie's instead of the member's own. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiResponse>;
}

export interface TestControlPlane {
  readonly config: Config;
  readonly service: Service;
  readonly database: TestDatabase;
  readonly url: string;
  /** Null: `url` serves the metrics. */
  readonly metricsPort: number | null;
  /** `host:port` for data planes. */
  readonly grpcAddress: string;
  readonly env: Readonly<Record<string, string>>;
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  /** A new organization (or a member of an existing one) made directly in the database, with a session token. */
  member(role: Role, orgId?: string): Promise<Member>;
  /** The newest mail to that address with that text in its subject, once it lies in the outbox. */
  mail(to: string, subject: string): Promise<SentMail>;
  /** Every log line so far, as it would be printed. */
  readonly logLines: readonly string[];
  stop(): Promise<void>;
}

interface SentMail {
  readonly text: string;
  /** The token of the mail's link. */
  readonly token: string;
}

/** Of all control planes of a test file: one may log what another was given. */
const secrets = new SecretsInPlay();

export async function startControlPlane(
  overrides: Readonly<Record<string, string>> = {},
  database?: TestDatabase,
  beforeStart: (service: Service) => void = () => {},
): Promise<TestControlPlane> {
  const db = database ?? (await createTestDatabase());
  const dataDir = mkdtempSync(join(tmpdir(), 'acg-control-'));
  const env: Record<string, string> = {
    GATEWAY_DATA_DIR: dataDir,
    CONTROLPLANE_PORT: '0',
    GRPC_LISTEN: '127.0.0.1:0',
    DATABASE_URL: db.url.reveal(),
    MASTER_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    JWT_SECRET: 'test-jwt-secret-0123456789-0123456789',
    INTERNAL_TOKEN: 'test-internal-token-0123456789-0123456789',
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'trace', // kept, not printed
    ...overrides,
  };
  const config = loadConfig(env);
  const logLines: string[] = [];
  const log = createLogger('control', config.logLevel, (line) => void logLines.push(line));
  for (const name of ['JWT_SECRET', 'INTERNAL_TOKEN', 'MASTER_KEYS']) {
    for (const secret of env[name]!.split(',')) secrets.add(name, secret.replace(/^[^:]*:/, ''));
  }
  const service = buildService(config, log);
  beforeStart(service);
  const { port, grpcPort, metricsPort } = await service.start();
  const url = `http://127.0.0.1:${port}`;
  const tokens = new SessionTokens(config.jwtSecrets);
  const call: TestControlPlane['call'] = (method, path, options = {}) => callApi(url, method, path, options, secrets);
  return {
    config,
    service,
    database: db,
    url,
    metricsPort,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    env,
    call,
    async member(role, orgId) {
      const org = orgId ?? (await insertOrganization(db));
      const userId = uuidv7(Date.now());
      const email = `${randomBytes(6).toString('hex')}@example.com`;
      await db.sql`insert into users (id, email, name, password_hash) values (${userId}, ${email}, 'Test', 'none')`;
      await db.sql`insert into memberships (org_id, user_id, role) values (${org}, ${userId}, ${role})`;
      const id = uuidv7(Date.now());
      await db.sql`
        insert into sessions (id, user_id, org_id, kind, authenticated_at, ip, user_agent, expires_at)
        values (${id}, ${userId}, ${org}, 'api', now(), '127.0.0.1', 'test', now() + interval '7 days')`;
      const token = tokens.issue({ userId, orgId: org, version: 1, id, generation: 1 });
      secrets.add('a session', token);
      return {
        userId,
        orgId: org,
        token,
        call: (method, path, body, headers = {}) =>
          call(method, path, { token: headers.cookie === undefined ? token : null, body, headers }),
      };
    },
    async mail(to, subject) {
      const mail = await waitForMail(outboxDirectory(config), to, subject);
      secrets.add('a mail', mail.token);
      return mail;
    },
    logLines,
    async stop() {
      await service.stop();
      if (database === undefined) await db.drop();
      rmSync(dataDir, { recursive: true, force: true });
      secrets.assertNoneIn(logLines.join(''));
    },
  };
}

async function insertOrganization(db: TestDatabase): Promise<string> {
  const id = uuidv7(Date.now());
  await db.sql`insert into organizations (id, name, slug) values (${id}, 'Test org', ${`org-${id}`})`;
  return id;
}

const MAIL_WAIT_MS = 90_000;

async function waitForMail(directory: string, to: string, subject: string): Promise<SentMail> {
  for (const deadline = Date.now() + MAIL_WAIT_MS; Date.now() < deadline; ) {
    const names = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.eml')) : [];
    for (const name of names.sort().reverse()) {
      const { header, text } = parseMail(readFileSync(join(directory, name), 'utf8'));
      if (header('to') !== to || !header('subject').includes(subject)) continue;
      return { text, token: /#token=([A-Za-z0-9_-]+)/.exec(text)?.[1] ?? '' };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no mail to ${to} about ${subject}`);
}

/** Headers and decoded text of a mail of one part. */
export function parseMail(source: string): { header(name: string): string; text: string } {
  const lines = source.replaceAll('\r\n', '\n');
  const end = lines.indexOf('\n\n');
  const headers = lines
    .slice(0, end)
    .replace(/\n[ \t]+/g, ' ')
    .split('\n');
  const header = (name: string): string =>
    headers.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
  const body = lines.slice(end + 2);
  const encoding = header('content-transfer-encoding').toLowerCase();
  if (encoding === 'base64') return { header, text: Buffer.from(body, 'base64').toString('utf8') };
  if (encoding !== 'quoted-printable') return { header, text: body };
  const bytes = body
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { header, text: Buffer.from(bytes, 'latin1').toString('utf8') };
}

/** One control plane for all tests of the calling file. */
export function useControlPlane(
  overrides: Readonly<Record<string, string>> = {},
  beforeStart?: (service: Service) => void,
): () => TestControlPlane {
  let plane: TestControlPlane | null = null;
  beforeAll(async () => {
    plane = await startControlPlane(overrides, undefined, beforeStart);
  });
  afterAll(async () => {
    await plane?.stop();
  });
  return () => plane!;
}
