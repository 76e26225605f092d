/** Counts of calls that the gateway rejected in the last 24 hours, by reason, and how they grow. */
import { rejectionAdvice } from '@acg/base/rejection-reasons';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { formatCount, formatSecond } from '../../terminal/format-numbers-and-times.js';

interface Scope {
  readonly agentId?: string;
  readonly projectId?: string;
}

export class RejectionCounts {
  #known: ReadonlyMap<string, number> | null = null;

  constructor(
    readonly client: Client,
    readonly scope: Scope,
  ) {}

  /** One line for each reason. */
  async readTotals(): Promise<readonly string[]> {
    return [...(await this.#load())].map(
      ([reason, count]) => `rejected in the last 24 h: ${formatCount(count)} × ${describeReason(reason)}`,
    );
  }

  /** One line for each reason whose count has grown since the previous call. */
  async readNew(): Promise<readonly string[]> {
    const counts = await this.#load();
    const known = this.#known;
    this.#known = counts;
    if (known === null) return [];
    return [...counts].flatMap(([reason, count]) => {
      const more = count - (known.get(reason) ?? 0);
      const at = formatSecond(new Date().toISOString());
      return more > 0 ? [`${at} rejected: ${formatCount(more)} × ${describeReason(reason)}`] : [];
    });
  }

  async #load(): Promise<ReadonlyMap<string, number>> {
    const { agentId, projectId } = this.scope;
    const query = { ...(agentId === undefined ? {} : { agentId }), ...(projectId === undefined ? {} : { projectId }) };
    const { refusals } = await this.client.get('/v1/usage/refusals', { params: { query } });
    return new Map(refusals.map(({ reason, count }) => [reason, count]));
  }
}

const describeReason = (reason: string): string => `${reason} (${rejectionAdvice(reason).cause})`;
