/**
 * Invalidations of the control plane, and a bounded list of recent ones. The list closes the race between a resolve in
 * progress and an invalidation that overtakes its answer. An answer of revision r is outdated when an invalidation with
 * a revision above r affects it.
 */
import type { IFormerCredential } from '@acg/proto/messages';
import type { AgentContext, Upstream } from './agent-context.js';

type InvalidationKind = 'key' | 'agent' | 'provider' | 'org' | 'project' | 'account';

/** By their number on the wire; null: unknown. */
export const INVALIDATION_KINDS: readonly (InvalidationKind | null)[] = [
  null,
  'key',
  'agent',
  'provider',
  'org',
  'project',
  'account',
];

export interface Invalidation {
  readonly revision: number;
  readonly kind: InvalidationKind;
  /** An id; for a provider `{orgId}/{slug}`, for an account `{agentId}/{accountId}`. */
  readonly id: string;
  /** Revoked, paused or deleted: calls and WebSockets in flight end, too. */
  readonly endsSessions: boolean;
  /** Present: only those that use a former version of this credential, because it is compromised. */
  readonly compromised?: FormerCredential;
}

export interface FormerCredential {
  /** Id of the shared credential, or of the account that has its own. */
  readonly id: string;
  /** Every smaller version is a former one. */
  readonly version: number;
}

export const decodeFormer = ({ id, version }: IFormerCredential): FormerCredential => ({
  id: id ?? '',
  version: version ?? 0,
});

type CredentialVersion = Pick<Upstream, 'providerSlug' | 'accountId' | 'credentialId' | 'credentialVersion'>;

export const usesFormer = ({ credentialId, credentialVersion }: CredentialVersion, former: FormerCredential): boolean =>
  credentialId === former.id && credentialVersion < former.version;

/** Whether the context was built from the invalidated object. */
export function affectsContext(invalidation: Invalidation, context: AgentContext): boolean {
  const { kind, id } = invalidation;
  switch (kind) {
    case 'key':
      // The end of a run invalidates the contexts of its sub-runs, too.
      return context.keyId === id || context.runIds.includes(id);
    case 'agent':
      return context.agentId === id;
    case 'project':
      return context.projectId === id;
    case 'org':
      return context.orgId === id;
    case 'provider':
      return context.orgId === parseOwnerId(id) && context.upstreams.has(parsePartId(id));
    case 'account':
      return context.agentId === parseOwnerId(id);
  }
}

/** Whether a call in flight under this context to this upstream must end. */
export function endsSession(invalidation: Invalidation, context: AgentContext, upstream: CredentialVersion): boolean {
  const { providerSlug } = upstream;
  if (!affectsContext(invalidation, context)) return false;
  if (invalidation.compromised !== undefined) return usesFormer(upstream, invalidation.compromised);
  if (invalidation.kind === 'provider') return parsePartId(invalidation.id) === providerSlug;
  if (invalidation.kind !== 'account') return true;
  return context.upstreams.get(providerSlug)?.accountId === parsePartId(invalidation.id);
}

/** The runs of the context that the invalidation ends: a run ends with the runs above it. */
export const listEndedRuns = (
  invalidation: Invalidation,
  { runIds }: Pick<AgentContext, 'runIds'>,
): readonly string[] => (invalidation.kind === 'key' ? runIds.slice(0, runIds.indexOf(invalidation.id) + 1) : []);

/** The owner in `{owner}/{part}`. */
export const parseOwnerId = (id: string): string => id.slice(0, id.indexOf('/'));
const parsePartId = (id: string): string => id.slice(id.indexOf('/') + 1);

/** A ring buffer of the most recent invalidations; revisions ascend. */
export class RecentInvalidations {
  readonly #ring: (Invalidation | undefined)[];
  #written = 0;
  /** Highest revision that was overwritten. Older answers cannot be checked. */
  #lastOverwrittenRevision = 0;

  constructor(capacity: number) {
    this.#ring = new Array<Invalidation | undefined>(capacity).fill(undefined);
  }

  add(invalidation: Invalidation): void {
    const slot = this.#written++ % this.#ring.length;
    this.#lastOverwrittenRevision = this.#ring[slot]?.revision ?? this.#lastOverwrittenRevision;
    this.#ring[slot] = invalidation;
  }

  /** Whether a context of `revision` is outdated, or may be because its invalidations were overwritten. */
  isOutdated(revision: number, context: AgentContext): boolean {
    if (revision < this.#lastOverwrittenRevision) return true;
    const kept = Math.min(this.#written, this.#ring.length);
    for (let back = 1; back <= kept; back++) {
      const one = this.#ring[(this.#written - back) % this.#ring.length]!;
      if (one.revision <= revision) return false;
      if (affectsContext(one, context)) return true;
    }
    return false;
  }

  clear(): void {
    this.#ring.fill(undefined);
    this.#written = 0;
    this.#lastOverwrittenRevision = 0;
  }
}
