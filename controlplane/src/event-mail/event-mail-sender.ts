/**
 * Mails events to the members who subscribed to them. A member gets at most one mail per organization in {@link
 * RECIPIENT_INTERVAL_S} seconds; events in between are collected for the next mail. Mails per organization are limited,
 * and event mails never fill the mailer's queue, which password mails need. Events of a mail that a crash loses stay in
 * `GET /v1/events`.
 */

import type { Sql } from '../db/postgres-client.js';
import type { Mailer } from '../mail/mailer.js';
import type { Throttle } from '../throttling/throttle.js';
import { createEventMail } from './event-mail-text.js';
import * as store from './store.js';

const RECIPIENT_INTERVAL_S = 900;
const MAILS_PER_ORG_MAX = 100;
const ORG_WINDOW_S = 3_600;
const RECIPIENTS_PER_BATCH = 20;
/** Length of the mailer's queue beyond which events wait. */
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

  /**
   * Returns the number of members that were due. `exhaustedOrgIds` collects organizations that have reached their
   * limit.
   */
  async #sendBatch(exhaustedOrgIds: Set<string>): Promise<number> {
    const { mails, due } = await this.sql.begin(async (tx) => {
      const recipients = await store.claimDueRecipients(tx, RECIPIENT_INTERVAL_S, RECIPIENTS_PER_BATCH, [
        ...exhaustedOrgIds,
      ]);
      const created = [];
      for (const recipient of recipients) {
        if (exhaustedOrgIds.has(recipient.orgId) || !(await this.#tryUseMailLimit(recipient.orgId))) {
          exhaustedOrgIds.add(recipient.orgId);
          continue; // Its events stay queued for the next mail.
        }
        const { total, shown } = await store.dequeueEvents(tx, recipient, EVENTS_SHOWN_MAX);
        const { email, orgName } = recipient;
        if (email !== null && total > 0) created.push(createEventMail(this.publicUrl, email, orgName, total, shown));
      }
      return { mails: created, due: recipients.length };
    });
    for (const mail of mails) this.mailer.enqueue(mail);
    return due;
  }

  #tryUseMailLimit(orgId: string): Promise<boolean> {
    return this.throttle.tryConsume(`event-mail:${orgId}`, MAILS_PER_ORG_MAX, ORG_WINDOW_S, 'event mails');
  }
}
