import { Type } from 'typebox';
import type { App } from '../http/app.js';
import { PageQuery, parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { EventMailPreferenceService } from './preference-service.js';
import { PreferenceInput, PreferenceList, PreferenceParams, PreferenceReply } from './schema.js';

const config = { access: 'viewer', tokens: false } as const;

export function eventMailRoutes(app: App, preferences: EventMailPreferenceService): void {
  app.get(
    '/v1/event-mail',
    {
      config,
      schema: {
        ...operation('Events', 'listEventMail', 'List which members get which events by e-mail'),
        querystring: Type.Object(PageQuery),
        response: { 200: PreferenceList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await preferences.list(actor, { limit, offset });
      return { preferences: [...rows], total, limit, offset };
    },
  );
  app.put(
    '/v1/event-mail/:userId',
    {
      config,
      schema: {
        ...operation('Events', 'setEventMail', 'Set the events that a member gets by e-mail'),
        params: PreferenceParams,
        body: PreferenceInput,
        response: { 200: PreferenceReply },
      },
    },
    async ({ actor, params, body }) => ({ preference: await preferences.set(actor, params.userId, body.events) }),
  );
}
