/** Mail transports: an SMTP server, or .eml files in the outbox directory (docs/operations.md#single-node). */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secret } from '@acg/base/secret';
import nodemailer from 'nodemailer';
import type { MailTransport } from './mailer.js';

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
const OUTBOX_FILES_MAX = 1_000;

export function createSmtpTransport(url: Secret, from: string): MailTransport {
  const transport = nodemailer.createTransport({
    url: url.reveal(),
    pool: true,
    maxConnections: 2,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: IDLE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
    },
    close: () => transport.close(),
  };
}

/** Writes one file per mail, readable by this user only. Deletes the oldest files beyond {@link OUTBOX_FILES_MAX}. */
export function createOutboxTransport(directory: string, from: string): MailTransport {
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send({ to, subject, text }) {
      const { message } = await composer.sendMail({ from, to: { name: '', address: to }, subject, text });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}`;
      // Renamed into place, so that a reader never sees an incomplete file.
      await writeFile(join(directory, `${name}.tmp`), message as Buffer, { mode: 0o600 });
      await rename(join(directory, `${name}.tmp`), join(directory, `${name}.eml`));
      await pruneOutbox(directory);
    },
    close: () => composer.close(),
  };
}

async function pruneOutbox(directory: string): Promise<void> {
  const mails = (await readdir(directory)).filter((name) => name.endsWith('.eml')).sort();
  for (const name of mails.slice(0, Math.max(0, mails.length - OUTBOX_FILES_MAX))) {
    await rm(join(directory, name), { force: true });
  }
}
