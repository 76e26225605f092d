/**
 * `/healthz`: the process responds. `/readyz`: it can serve, because migrations are applied, it has started and the
 * database responds.
 */
import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';

export class ReadinessCheck {
  /** Set after migrations when all ports are open; cleared when draining starts. */
  started = false;

  constructor(readonly sql: Sql) {}

  /** Returns what is missing for readiness; null when ready. */
  async readinessProblem(): Promise<string | null> {
    if (!this.started) return 'starting or stopping';
    try {
      await this.sql`select 1`;
      return null;
    } catch {
      return 'database unreachable';
    }
  }
}

export function healthRoutes(app: App, health: ReadinessCheck): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const problem = await health.readinessProblem();
    return problem === null ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', problem });
  });
}
