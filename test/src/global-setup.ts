/**
 * Runs once before all tests: starts a real Postgres with one migrated template database. Each test file creates its
 * database from it (see test-database.ts), so files run in parallel.
 */
import type { TestProject } from 'vitest/node';
import { startTemplateCluster } from './fixtures/template-cluster.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Superuser URL of the database `postgres`. */
    databaseServerUrl: string;
  }
}

/** Names a server with the template database, which several runs share (mutation tests). Unset: starts one. */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const shared = process.env[POSTGRES_URL_VARIABLE];
  if (shared !== undefined) {
    project.provide('databaseServerUrl', shared);
    return undefined;
  }
  const cluster = await startTemplateCluster();
  project.provide('databaseServerUrl', cluster.serverUrl);
  return () => cluster.stop();
}
