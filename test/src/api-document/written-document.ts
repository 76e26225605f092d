import { createLogger } from '@acg/base/log';
import { loadConfig } from '@acg/controlplane/config';
import { buildService } from '@acg/controlplane/service';
import { type Written, writeDocument } from './document.js';
import { exportedNames } from './named-schemas.js';

/** From the routes of a control plane that never starts: no database is asked. */
export async function writtenDocument(): Promise<Written> {
  const config = loadConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    MASTER_KEYS: `test:${Buffer.alloc(32).toString('base64')}`,
    JWT_SECRET: 'a secret that signs nothing, only for this document',
    INTERNAL_TOKEN: 'a token that opens nothing, only for this document',
  });
  const { app } = buildService(config, createLogger('control', 'silent'));
  try {
    return writeDocument(app.routeTable, await exportedNames(), config.version);
  } finally {
    await app.close();
  }
}
