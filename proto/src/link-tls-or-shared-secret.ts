/**
 * Authentication between the two planes: mutual TLS where the three files are set, else a shared secret in the
 * `authorization` metadata. TLS is required off loopback (docs/operations.md#plane-link).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { EnvReader } from '@acg/base/env-reader';
import type { Secret } from '@acg/base/secret';
import { ChannelCredentials, experimental, Metadata, ServerCredentials } from '@grpc/grpc-js';

interface LinkTls {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface LinkSecurity {
  readonly tls: LinkTls | null;
  /** Empty only with mutual TLS. Two during a rotation: clients send the first, servers accept both. */
  readonly internalTokens: readonly Secret[];
}

const FILES = ['GRPC_TLS_CA', 'GRPC_TLS_CERT', 'GRPC_TLS_KEY'] as const;
const LOOPBACK = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\]|::1)$/;

/**
 * Reads GRPC_TLS_* and INTERNAL_TOKEN. `addresses`: `host:port` of the link's ends. `ownTokens`: a data plane's own
 * token, which it sends instead of INTERNAL_TOKEN. `isTokenOptional`: every data plane has its own. Reports invalid
 * settings to `read`.
 */
export function readLinkSecurity(
  read: EnvReader,
  addresses: readonly string[],
  { ownTokens = [], isTokenOptional = false }: { ownTokens?: readonly Secret[]; isTokenOptional?: boolean } = {},
): LinkSecurity {
  const paths = FILES.map((name) => read.optional(name));
  const set = paths.filter((path) => path !== null).length;
  if (set !== 0 && set !== FILES.length) read.addProblem(`${FILES.join(', ')} must be set together or not at all`);
  const [ca, cert, key] = set === FILES.length ? FILES.map((name, i) => read.file(name, paths[i]!)) : [];
  const tls = ca && cert && key ? { ca, cert, key } : null;
  const internalTokens = ownTokens.length > 0 ? ownTokens : read.secrets('INTERNAL_TOKEN');
  if (set === 0) {
    if (internalTokens.length === 0 && !isTokenOptional)
      read.addProblem('INTERNAL_TOKEN is not set: it must be a shared secret of at least 32 characters');
    for (const address of addresses) {
      if (LOOPBACK.test(address.replace(/:\d+$/, ''))) continue;
      read.addProblem(`${FILES.join(', ')} must be set: the gRPC link at ${address} leaves this machine`);
    }
  }
  return { tls, internalTokens };
}

/** The certificates of one end of the link. New ones hold for new connections; open ones stay. */
class LinkCertificates implements experimental.CertificateProvider {
  readonly #caListeners = new Set<experimental.CaCertificateUpdateListener>();
  readonly #identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();
  #tls: LinkTls;

  constructor(tls: LinkTls) {
    this.#tls = tls;
  }

  replace(tls: LinkTls): void {
    this.#tls = tls;
    for (const listener of this.#caListeners) this.#tellCa(listener);
    for (const listener of this.#identityListeners) this.#tellIdentity(listener);
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.add(listener);
    // Later, because the library is ready for an update only when this call has returned.
    queueMicrotask(() => this.#tellCa(listener));
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.add(listener);
    queueMicrotask(() => this.#tellIdentity(listener));
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.delete(listener);
  }

  #tellCa(listener: experimental.CaCertificateUpdateListener): void {
    if (this.#caListeners.has(listener)) listener({ caCertificate: this.#tls.ca });
  }

  #tellIdentity(listener: experimental.IdentityCertificateUpdateListener): void {
    const { cert, key } = this.#tls;
    if (this.#identityListeners.has(listener)) listener({ certificate: cert, privateKey: key });
  }
}

/** Null: the link has no TLS. */
export const linkCertificates = ({ tls }: LinkSecurity): LinkCertificates | null =>
  tls === null ? null : new LinkCertificates(tls);

export function createServerCredentials(
  security: LinkSecurity,
  certificates = linkCertificates(security),
): ServerCredentials {
  if (certificates === null) return ServerCredentials.createInsecure();
  return experimental.createCertificateProviderServerCredentials(certificates, certificates, true);
}

export function createChannelCredentials(
  security: LinkSecurity,
  certificates = linkCertificates(security),
): ChannelCredentials {
  if (certificates === null) return ChannelCredentials.createInsecure();
  return experimental.createCertificateProviderChannelCredentials(certificates, certificates);
}

/** Metadata that a data plane sends with each call. */
export function createLinkMetadata(security: LinkSecurity, metadata = new Metadata()): Metadata {
  const [token] = security.internalTokens;
  if (token !== undefined) metadata.set('authorization', `Bearer ${token.reveal()}`);
  return metadata;
}

/** Whether the server may handle a call. A set INTERNAL_TOKEN is also checked with mutual TLS. */
export function isLinkAuthorized(security: LinkSecurity, metadata: Metadata): boolean {
  if (security.internalTokens.length === 0) return security.tls !== null;
  const given = metadata.get('authorization')[0];
  if (typeof given !== 'string') return false;
  return security.internalTokens.some((token) => isEqualInConstantTime(given, `Bearer ${token.reveal()}`));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const isEqualInConstantTime = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
