import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { AttentionReply } from './schema.js';
import { listAttentionItems } from './service.js';

export function attentionRoutes(app: App, sql: Sql, catalogue: Catalogue): void {
  app.get(
    '/v1/attention',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation(
          'Events',
          'listAttention',
          'List what needs action: budgets, credentials, keys, webhooks, circuits',
        ),
        response: { 200: AttentionReply },
      },
    },
    async ({ actor }) => ({ attention: await listAttentionItems(sql, catalogue, actor, Date.now()) }),
  );
}
