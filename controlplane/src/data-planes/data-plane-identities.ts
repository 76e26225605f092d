/**
 * Authenticates calls on the plane link: a data plane's own token, its certificate's name, or the shared INTERNAL_TOKEN.
 * Identities are read again every second, so a revocation takes effect within two; its watch streams end. While the
 * database is away the last known identities hold.
 */
import type { Logger } from '@acg/base/log';
import { isLinkAuthorized, type LinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import type { Metadata } from '@grpc/grpc-js';
import type { Sql } from '../db/postgres-client.js';
import type { LinkAuthentication } from '../grpc/link-caller.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { type DataPlaneIdentity, hashDataPlaneToken, loadIdentities } from './identity-store.js';

interface IncomingCall {
  readonly metadata: Metadata;
  getAuthContext(): { readonly sslPeerCertificate?: { readonly subject?: { readonly CN?: unknown } } };
}

const REFRESH_MS = 1_000;
const BEARER = /^Bearer (.+)$/;

export class DataPlaneIdentities {
  readonly #sql: Sql;
  #security: LinkSecurity;
  readonly #isRequired: boolean;
  readonly #log: Logger;
  readonly #background: BackgroundTasks;
  #byTokenHash: ReadonlyMap<string, DataPlaneIdentity> = new Map();
  #byCertificate: ReadonlyMap<string, DataPlaneIdentity> = new Map();
  #failing = false;
  /** Called after each refresh with the names of revoked identities. */
  onRefreshed: (revoked: ReadonlySet<string>) => void = () => undefined;

  /** `isRequired`: the shared INTERNAL_TOKEN is rejected. */
  constructor(sql: Sql, security: LinkSecurity, isRequired: boolean, log: Logger) {
    this.#sql = sql;
    this.#security = security;
    this.#isRequired = isRequired;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#background.runEvery('data plane identities', REFRESH_MS, async () => {
      try {
        await this.refresh();
        this.#failing = false;
      } catch (error) {
        if (!this.#failing) this.#log.warn({ err: error }, 'data plane identities cannot be read; the last known hold');
        this.#failing = true;
      }
    });
  }

  /** Accepts these shared tokens from the next call on. */
  replaceSecurity(security: LinkSecurity): void {
    this.#security = security;
  }

  stop(): Promise<void> {
    return this.#background.stop();
  }

  async refresh(): Promise<void> {
    const identities = await loadIdentities(this.#sql);
    this.#byTokenHash = new Map(identities.flatMap((one) => one.tokenHashes.map((hash) => [hash, one] as const)));
    this.#byCertificate = new Map(
      identities.flatMap((one) => (one.certificateName === null ? [] : [[one.certificateName, one] as const])),
    );
    this.onRefreshed(new Set(identities.flatMap(({ name, isRevoked }) => (isRevoked ? [name] : []))));
  }

  authenticate(call: IncomingCall): LinkAuthentication {
    const header = call.metadata.get('authorization')[0];
    const token = typeof header === 'string' ? BEARER.exec(header)?.[1] : undefined;
    const byToken = token === undefined ? undefined : this.#byTokenHash.get(hashDataPlaneToken(token).toString('hex'));
    const commonName = this.#byCertificate.size === 0 ? null : call.getAuthContext().sslPeerCertificate?.subject?.CN;
    const byCertificate = typeof commonName === 'string' ? this.#byCertificate.get(commonName) : undefined;
    const identity = byToken ?? byCertificate;
    if (identity === undefined) return this.#authenticateShared(call.metadata);
    if (identity.isRevoked) return { problem: `the data plane identity ${identity.name} was revoked` };
    if (identity.tokenHashes.length > 0 && byToken === undefined)
      return { problem: `DATAPLANE_TOKEN of ${identity.name} does not match` };
    if (identity.certificateName !== null && byCertificate !== identity)
      return { problem: `the certificate is not that of ${identity.name}` };
    return { caller: identity.name };
  }

  #authenticateShared(metadata: Metadata): LinkAuthentication {
    if (!isLinkAuthorized(this.#security, metadata)) return { problem: 'INTERNAL_TOKEN does not match' };
    if (!this.#isRequired) return { caller: '' };
    return { problem: 'a data plane needs its own DATAPLANE_TOKEN or certificate (DATAPLANE_IDENTITIES=required)' };
  }
}
