/**
 * Mails events to the members who want them. Nobody gets more than one mail in {@link PAUSE_S} of one organization: what
 * happens meanwhile stands together in the next. An organization's mails are counted, and it never fills the queue of
 * mails, which others need for their passwords. What a crash takes between here and the mail server is lost: the events
 * themselves stay in `GET /v1/events`.
 */
import type { Throttle } from '../auth/throttle.js';
import type { Sql } from '../db/sql.js';
import { TooManyAttempts } from '../domain/errors.js';
import type { Mailer } from '../mail/mailer.js';
import { eventMail } from './message.js';
import * as store from './store.js';

const PAUSE_S = 900;
const MAILS_PER_ORG = 100;
const ORG_WINDOW_S = 3_600;
const RECIPIENTS_PER_TURN = 20;
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

  async turn(): Promise<void> {
    if (!(await store.isAnythingWaiting(this.sql))) return;
    const spent = new Set<string>();
    while (this.mailer.pending < MAILS_PENDING_MAX && (await this.#mailSome(spent)) === RECIPIENTS_PER_TURN);
  }

  /** How many members were due. `spent` collects organizations that have used up their mails. */
  async #mailSome(spent: Set<string>): Promise<number> {
    const { mails, due } = await this.sql.begin(async (tx) => {
      const recipients = await store.takeDue(tx, PAUSE_S, RECIPIENTS_PER_TURN, [...spent]);
      const made = [];
      for (const recipient of recipients) {
        if (spent.has(recipient.orgId) || !(await this.#mayMail(recipient.orgId))) {
          spent.add(recipient.orgId);
          continue; // its events wait, and come with the next mail
        }
        const { total, shown } = await store.takeWaiting(tx, recipient, EVENTS_SHOWN_MAX);
        const { email, orgName } = recipient;
        if (email !== null && total > 0) made.push(eventMail(this.publicUrl, email, orgName, total, shown));
      }
      return { mails: made, due: recipients.length };
    });
    for (const mail of mails) this.mailer.enqueue(mail);
    return due;
  }

  async #mayMail(orgId: string): Promise<boolean> {
    try {
      await this.throttle.count(`event-mail:${orgId}`, MAILS_PER_ORG, ORG_WINDOW_S, 'mails of events');
      return true;
    } catch (error) {
      if (error instanceof TooManyAttempts) return false;
      throw error;
    }
  }
}
