/** Which members get which events by mail. Members decide for themselves, admins for all members. */
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, Forbidden, InvalidInput, NotFound } from '../domain/errors.js';
import { EVENT_TYPES, type EventName } from '../events/event-catalogue.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { type Actor, isRoleAtLeast } from '../http/route-access.js';
import type { Preference } from './schema.js';
import * as store from './store.js';

export class EventMailPreferenceService {
  constructor(readonly sql: Sql) {}

  list(actor: Actor, page: Page): Promise<ListResult<Preference>> {
    return store.listPreferences(this.sql, actor.orgId, page);
  }

  async set(actor: Actor, userId: string, events: readonly EventName[]): Promise<Preference> {
    const { orgId } = actor;
    const unmailed = events.find((event) => EVENT_TYPES[event].webhooksOnly === true);
    if (unmailed !== undefined) throw new InvalidInput(`events: ${unmailed} is sent to webhooks only`);
    if (userId !== actor.userId && !isRoleAtLeast(actor.role, 'admin')) {
      // 403 instead of 404: members may know who else is a member.
      throw new Forbidden('only admins can change the event mails of other members');
    }
    return this.sql.begin(async (tx) => {
      const before = await store.lockPreference(tx, orgId, userId);
      if (before === null) throw new NotFound('member');
      if (events.length > 0 && !before.emailVerified) {
        throw new Conflict(
          'this e-mail address is not confirmed yet: its owner must confirm it with the link in the sign-up mail',
        );
      }
      await store.writePreference(tx, orgId, userId, events);
      const changes = { events: [before.events, [...events]] } as const;
      await recordAudit(tx, actor, 'event_mail.update', { type: 'user', id: userId }, changes);
      return { ...before, events: [...events] };
    });
  }
}
