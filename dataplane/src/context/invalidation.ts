/**
 * What the control plane says is no longer true, and a bounded memory of it. The memory closes the race between a
 * resolve under way and an invalidation that overtakes its answer: an answer of revision r is stale when something
 * that touches it was invalidated at a revision above r.
 */
import type { AgentContext } from './agent-context.js';

export type InvalidationKind = 'key' | 'agent' | 'provider' | 'org' | 'project' | 'account';

export interface Invalidation {
  readonly revision: number;
  readonly kind: InvalidationKind;
  /** An id; of a provider `{orgId}/{slug}`, of an account `{agentId}/{accountId}`. */
  readonly id: string;
  /** Revoked, paused or deleted: calls and WebSockets that are under way end too. */
  readonly endsSessions: boolean;
}

/** Whether a context was made from what was invalidated. */
export function affectsContext(invalidation: Invalidation, context: AgentContext): boolean {
  const { kind, id } = invalidation;
  switch (kind) {
    case 'key':
      return context.keyId === id;
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

/** Whether a call that is open under this context to this provider loses its right to go on. */
export function endsSession(invalidation: Invalidation, context: AgentContext, providerSlug: string): boolean {
  if (!affectsContext(invalidation, context)) return false;
  if (invalidation.kind === 'provider') return parsePartId(invalidation.id) === providerSlug;
  if (invalidation.kind !== 'account') return true;
  return context.upstreams.get(providerSlug)?.accountId === parsePartId(invalidation.id);
}

/** Of `{owner}/{part}`. */
export const parseOwnerId = (id: string): string => id.slice(0, id.indexOf('/'));
const parsePartId = (id: string): string => id.slice(id.indexOf('/') + 1);

/** The last invalidations, oldest overwritten first; revisions rise. */
export class RecentInvalidations {
  readonly #ring: (Invalidation | undefined)[];
  #written = 0;
  /** Highest revision that was overwritten: about older answers nothing can be said. */
  #lastOverwrittenRevision = 0;

  constructor(capacity: number) {
    this.#ring = new Array<Invalidation | undefined>(capacity).fill(undefined);
  }

  add(invalidation: Invalidation): void {
    const slot = this.#written++ % this.#ring.length;
    this.#lastOverwrittenRevision = this.#ring[slot]?.revision ?? this.#lastOverwrittenRevision;
    this.#ring[slot] = invalidation;
  }

  /** Whether a context as of `revision` is known, or must be feared, to be out of date. */
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
