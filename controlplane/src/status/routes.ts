import { Type } from 'typebox';
import type { App } from '../http/app.js';
import { EXAMPLE_TIMES } from '../http/examples.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Timestamp } from '../http/schema.js';
import { renderStatusPage, STATUS_PAGE_CSP } from './status-page.js';
import type { StatusService } from './status-service.js';

const Health = Type.Unsafe<'operational' | 'degraded' | 'outage'>({
  type: 'string',
  enum: ['operational', 'degraded', 'outage'],
});
const State = Type.Unsafe<'CLOSED' | 'HALF_OPEN' | 'OPEN'>({ type: 'string', enum: ['CLOSED', 'HALF_OPEN', 'OPEN'] });
const ProviderHealth = Type.Object({ slug: Type.String(), displayName: Type.String(), state: State, status: Health });
const CounterStoreOutage = Type.Object({
  since: Timestamp,
  dataPlanes: Type.Integer({ description: 'Number of data planes that cannot reach their counter store.' }),
});
const StatusReply = Type.Object({
  status: Health,
  providers: Type.Array(ProviderHealth),
  counterStoreOutage: Type.Union([CounterStoreOutage, Type.Null()], {
    description: 'Limits and soft budgets are not checked on data planes without their counter store. Null: no outage.',
  }),
  lastUpdated: Timestamp,
});

export function statusRoutes(app: App, status: StatusService): void {
  app.get(
    '/v1/status',
    {
      config: { access: 'public' },
      schema: {
        ...operation('Installation', 'getStatus', 'Get the health of the built-in providers'),
        response: { 200: StatusReply },
      },
    },
    async () => {
      const { providers, ...rest } = await status.current();
      return { ...rest, providers: [...providers] };
    },
  );
  app.get('/status', async (_request, reply) => {
    void reply.header('content-security-policy', STATUS_PAGE_CSP).type('text/html; charset=utf-8');
    return renderStatusPage(await status.current());
  });
}

/** For the API document. */
export const EXAMPLES = {
  lastUpdated: EXAMPLE_TIMES.used,
  'providers.status': 'operational',
  counterStoreOutage: null,
};
