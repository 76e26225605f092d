import { type Static, Type } from 'typebox';
import { EVENT_NAMES } from '../events/event-catalogue.js';
import { EventNameField } from '../events/schema.js';
import { PageReply } from '../http/limit-offset-pagination.js';
import { Body, Uuid } from '../http/schema.js';

const Events = Type.Array(EventNameField, { maxItems: EVENT_NAMES.length, uniqueItems: true });

export const Preference = Type.Object({
  userId: Uuid,
  email: Type.String(),
  name: Type.String(),
  emailVerified: Type.Boolean({ description: 'Event mails are sent only to confirmed addresses.' }),
  events: Events,
});
export type Preference = Static<typeof Preference>;
export const PreferenceInput = Body({ events: Events });
export const PreferenceParams = Type.Object({ userId: Uuid });
export const PreferenceReply = Type.Object({ preference: Preference });
export const PreferenceList = Type.Object({ preferences: Type.Array(Preference), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'Preference.name': 'Ada Lovelace',
};
