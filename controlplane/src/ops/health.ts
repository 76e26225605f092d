/** `/healthz`: the process answers. `/readyz`: it can serve: migrated, started, database up. */
import type { Sql } from '../db/sql.js';
import type { App } from '../http/app.js';

export class ReadinessCheck {
  /** Set when migrations are done and all ports are open; cleared when draining begins. */
  started = false;

  constructor(readonly sql: Sql) {}

  /** Null when ready, else what is missing. */
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
