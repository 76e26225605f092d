/**
 * Runs once before the tests that need Postgres: starts a real one with one migrated template database. Each test file
 * creates its database from it (see test-database.ts), so files run in parallel. The Vitest projects share the server.
 */
import type { TestProject } from 'vitest/node';
import { startPostgresWithTemplateDatabase } from './fixtures/postgres-with-template-database.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Superuser URL of the database `postgres`. */
    databaseServerUrl: string;
  }
}

/** Names a server with the template database, which several runs share (mutation tests). Unset: starts one. */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';

interface SharedCluster {
  readonly cluster: ReturnType<typeof startPostgresWithTemplateDatabase>;
  projects: number;
}

/** In the global object, because every project loads its own copy of this module. */
const state = globalThis as { acgTestCluster?: SharedCluster };

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const running = process.env[POSTGRES_URL_VARIABLE];
  if (running !== undefined) {
    project.provide('databaseServerUrl', running);
    return undefined;
  }
  state.acgTestCluster ??= { cluster: startPostgresWithTemplateDatabase(), projects: 0 };
  const shared = state.acgTestCluster;
  shared.projects += 1;
  project.provide('databaseServerUrl', (await shared.cluster).serverUrl);
  return async () => {
    shared.projects -= 1;
    if (shared.projects > 0) return;
    delete state.acgTestCluster;
    await (await shared.cluster).stop();
  };
}
