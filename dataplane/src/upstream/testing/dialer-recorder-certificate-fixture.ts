/**
 * Test helpers: a dialer for this machine, a recorder of one upstream request, and certificates that this process
 * trusts.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureContext, SecureContextOptions } from 'node:tls';
import { Dialer, type DialerOptions } from '@acg/base/dialer/dialer';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import { TenantNameResolver } from '@acg/base/dns/tenant-name-resolver';
import type {
  UpstreamConnection,
  UpstreamRequest,
  UpstreamResponseHandler,
} from '@acg/dataplane/http1/upstream-request-interface';
import type { ConnectionPools } from '@acg/dataplane/upstream/connections/connection-pools-per-origin-and-owner';

/** An organization, for tests that need any. */
export const TENANT = 'org-1';
/** Owner of the calls, for tests that need only one. */
export const OWNER = 'org-1';

/** A dialer that may connect to this machine, also for tenants. */
export function createLocalDialer(over: Partial<DialerOptions> = {}): Dialer {
  return new Dialer({
    allowCidrs: ['127.0.0.0/8', '::1/128'],
    connectTimeoutMs: 5_000,
    tenantNames: new TenantNameResolver(),
    operatorNames: new OperatorNameResolver(),
    ...over,
  });
}

/** Takes an idle connection, or creates one. */
export const acquireConnection = (
  pools: ConnectionPools,
  origin: string,
  tenant: string | null,
  owner: string,
): UpstreamConnection => pools.takeIdle(origin, tenant, owner) ?? pools.create(origin, tenant, owner);

type RecordedConnection = Pick<
  UpstreamConnection,
  'isConnected' | 'isRequestSent' | 'connect' | 'dispatch' | 'release'
>;

/** Records one upstream request and its response. Releases its connection at the end, as the relay does. */
export class RecordedRequest implements UpstreamResponseHandler {
  readonly connection: RecordedConnection;
  readonly heads: [status: number, rawHeaders: string[]][] = [];
  readonly chunks: Buffer[] = [];
  /** Return value of the next `onData` calls; false pauses the upstream. */
  accepts = true;
  /** Runs within `onData`. */
  onDataHook: (() => void) | null = null;
  abort: ((error?: Error) => void) | null = null;
  resume: (() => void) | null = null;
  completed = 0;
  error: Error | null = null;
  errors = 0;
  #changed: (() => void)[] = [];

  constructor(connection: RecordedConnection, call: Partial<UpstreamRequest> = {}) {
    this.connection = connection;
    const request: UpstreamRequest = { method: 'GET', path: '/', headers: [], body: null, ...call };
    if (connection.isConnected) connection.dispatch(request, this);
    else connection.connect((error) => (error === null ? connection.dispatch(request, this) : this.onError(error)));
  }

  get status(): number {
    return this.heads.at(-1)?.[0] ?? 0;
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get isFinished(): boolean {
    return this.completed + this.errors > 0;
  }

  async waitUntil(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  /** Resolves when the response is complete; rejects when the request fails. */
  async waitForEnd(): Promise<this> {
    await this.waitUntil(() => this.isFinished);
    if (this.error !== null) throw this.error;
    return this;
  }

  async waitForError(): Promise<Error> {
    await this.waitUntil(() => this.isFinished);
    if (this.error === null) throw new Error('the call succeeded');
    return this.error;
  }

  onConnect(abort: (error?: Error) => void): void {
    this.abort = abort;
    this.#notify();
  }

  onHeaders(status: number, rawHeaders: string[], resume: () => void): void {
    this.heads.push([status, rawHeaders]);
    this.resume = resume;
    this.#notify();
  }

  onData(chunk: Buffer): boolean {
    this.chunks.push(chunk);
    this.onDataHook?.();
    this.#notify();
    return this.accepts;
  }

  onComplete(): void {
    this.completed++;
    this.#end();
  }

  onError(error: Error): void {
    this.error = error;
    this.errors++;
    this.#end();
  }

  #end(): void {
    this.abort = null;
    this.resume = null;
    this.connection.release();
    this.#notify();
  }

  #notify(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/**
 * Creates a self-signed certificate. `names`: in the form of `subjectAltName`, such as `DNS:localhost,IP:127.0.0.1`.
 */
export function createCertificate(names: string): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'acg-cert-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${names}`, '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  const certificate = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  return certificate;
}

/** Dialers created from now on trust the certificate, as with NODE_EXTRA_CA_CERTS at process start. */
export function trustCertificate(certificate: Certificate): void {
  const tls = createRequire(import.meta.url)('node:tls') as {
    createSecureContext(options?: SecureContextOptions): SecureContext;
  };
  const create = tls.createSecureContext;
  tls.createSecureContext = (options) => {
    const made = create(options);
    made.context.addCACert(certificate.cert);
    return made;
  };
  syncBuiltinESMExports();
}
