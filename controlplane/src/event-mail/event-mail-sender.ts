/**
 * Mails events to the members who want them. Nobody gets more than one mail in {@link RECIPIENT_INTERVAL_S} of one organization: what
 * happens meanwhile stands together in the next. An organization's mails are counted, and it never fills the queue of
 * mails, which others need for their passwords. What a crash takes between here and the mail server is lost: the events
 * themselves stay in `GET /v1/events`.
 */

import type { Sql } from '../db/sql.js';
import { TooManyAttempts } from '../domain/errors.js';
import type { Mailer } from '../mail/mailer.js';
import type { Throttle } from '../throttling/throttle.js';
import { createEventMail } from './event-mail-text.js';
import * as store from './store.js';

const RECIPIENT_INTERVAL_S = 900;
const MAILS_PER_ORG_MAX = 100;
const ORG_WINDOW_S = 3_600;
const RECIPIENTS_PER_BATCH = 20;
/** Of the mailer's queue: past it, events wait. */
const MAILS_PENDING_MAX = 200;
const EVENTS_SHOWN_MAX = 20;

export class EventMailSender {
  constructor(
    readonly sql: Sql,
    readonly throttle: Throttle,
    readonly mailer: Mailer,
    readonly publicUrl: string,
  ) {}

  async sendDue(): Promise<void> {
    if (!(await store.hasQueuedEvents(this.sql))) return;
    const exhaustedOrgIds = new Set<string>();
    while (
      this.mailer.pending < MAILS_PENDING_MAX &&
      (await this.#sendBatch(exhaustedOrgIds)) === RECIPIENTS_PER_BATCH
    );
  }

  /** How many members were due. `spent` collects organizations that have used up their mails. */
  async #sendBatch(spent: Set<string>): Promise<number> {
    const { mails, due } = await this.sql.begin(async (tx) => {
      const recipients = await store.claimDueRecipients(tx, RECIPIENT_INTERVAL_S, RECIPIENTS_PER_BATCH, [...spent]);
      const made = [];
      for (const recipient of recipients) {
        if (spent.has(recipient.orgId) || !(await this.#isWithinMailLimit(recipient.orgId))) {
          spent.add(recipient.orgId);
          continue; // its events wait, and come with the next mail
        }
        const { total, shown } = await store.dequeueEvents(tx, recipient, EVENTS_SHOWN_MAX);
        const { email, orgName } = recipient;
        if (email !== null && total > 0) made.push(createEventMail(this.publicUrl, email, orgName, total, shown));
      }
      return { mails: made, due: recipients.length };
    });
    for (const mail of mails) this.mailer.enqueue(mail);
    return due;
  }

  async #isWithinMailLimit(orgId: string): Promise<boolean> {
    try {
      await this.throttle.consume(`event-mail:${orgId}`, MAILS_PER_ORG_MAX, ORG_WINDOW_S, 'mails of events');
      return true;
    } catch (error) {
      if (error instanceof TooManyAttempts) return false;
      throw error;
    }
  }
}
