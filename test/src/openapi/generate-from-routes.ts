import { createLogger } from '@acg/base/log';
import { loadConfig } from '@acg/controlplane/config';
import { buildControlPlane } from '@acg/controlplane/control-plane';
import { generateOpenApiDocument, type OpenApiResult } from './openapi-document.js';
import { importSchemaModules } from './schema-registry.js';

/** Uses the routes of a control plane that is never started, so no database is needed. */
export async function generateDocumentFromRoutes(): Promise<OpenApiResult> {
  const config = loadConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    MASTER_KEYS: `test:${Buffer.alloc(32).toString('base64')}`,
    JWT_SECRET: 'a secret that signs nothing, only for this document',
    INTERNAL_TOKEN: 'a token that opens nothing, only for this document',
  });
  const { app } = buildControlPlane(config, createLogger('control', 'silent'));
  try {
    // Routes of a nested scope are declared only then.
    await app.ready();
    return await generateOpenApiDocument(app.routeTable, await importSchemaModules(), config.version);
  } finally {
    await app.close();
  }
}
