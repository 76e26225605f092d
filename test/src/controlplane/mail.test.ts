import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { type Mail, Mailer, type MailTransport } from '@acg/controlplane/mail/mailer';
import { createOutboxTransport, createSmtpTransport } from '@acg/controlplane/mail/smtp-and-outbox-transports';
import { afterEach, expect, test, vi } from 'vitest';
import { parseMail, startControlPlane } from '../fixtures/control-plane.js';
import { startSmtpServer } from '../fixtures/smtp-server.js';

const FROM = 'Gateway <gateway@example.com>';
const MAIL: Mail = { to: 'ada@example.com', purpose: 'reset', subject: 'Hello', text: 'the token is s3cr3t' };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 300_000, interval: 10 });

/** As {@link startSmtpServer}; closed when the test ends. */
async function smtpServer(refusals = 0) {
  const server = await startSmtpServer(refusals);
  cleanups.push(() => server.close());
  return server;
}

function collectingLogger() {
  const lines: string[] = [];
  return { lines, log: createLogger('control', 'debug', (line) => void lines.push(line)) };
}

test('smtp: a signup sends a real mail through the server of SMTP_URL, logged in', async () => {
  const smtp = await smtpServer();
  const plane = await startControlPlane({ SMTP_URL: smtp.url, MAIL_FROM: FROM, PUBLIC_URL: 'https://gw.example.com' });
  cleanups.push(() => plane.stop());
  const email = `${randomBytes(5).toString('hex')}@example.com`;
  const body = { email, password: 'a long password', name: 'Ada', orgName: 'Ünïcode' };
  const { token } = (await plane.call('POST', '/v1/auth/signup', { body })).body;
  await eventually(() => expect(smtp.received).toHaveLength(1));
  const confirm = /#token=([A-Za-z0-9_-]+)/.exec(parseMail(smtp.received[0]!.source).text)![1];
  await plane.call('POST', '/v1/auth/verify-email', { body: { token: confirm } });
  await plane.call('POST', '/v1/members', { token, body: { email: 'guest@example.com', role: 'viewer' } });
  await eventually(() => expect(smtp.received).toHaveLength(2));
  const [first, second] = smtp.received;
  expect(first).toMatchObject({ to: [email], user: 'gateway' });
  const mail = parseMail(first!.source);
  expect(mail.header('from')).toBe(FROM);
  expect(mail.text).toContain('https://gw.example.com/verify-email#token=');
  expect(parseMail(second!.source).text).toContain('to the organization Ünïcode as viewer');
});

test('smtp: a rejected e-mail is retried until it is accepted', async () => {
  const smtp = await smtpServer(2);
  const { lines, log } = collectingLogger();
  const mailer = new Mailer(createSmtpTransport(new Secret(smtp.url), FROM), log, [1, 1, 1]);
  cleanups.push(() => mailer.stop(1_000));
  mailer.enqueue(MAIL);
  await eventually(() => expect(smtp.received).toHaveLength(1));
  expect(lines.filter((line) => line.includes('"responseCode":451'))).toHaveLength(2);
});

test('smtp: a server that is away fails no request; the log names neither token nor address nor password', async () => {
  const smtp = await smtpServer();
  await cleanups.pop()!(); // closed: its port rejects connections now
  const plane = await startControlPlane({ SMTP_URL: smtp.url, LOG_LEVEL: 'debug' });
  const email = 'nobody.hears@example.com';
  const body = { email, password: 'a long password', name: 'Ada', orgName: 'Away' };
  expect((await plane.call('POST', '/v1/auth/signup', { body })).status).toBe(201);
  await eventually(() => expect(plane.logLines.join('')).toContain('mail not sent'));
  await plane.stop();
  const log = plane.logLines.join('');
  expect(log).toContain('mails not sent before shutdown');
  for (const secret of ['smtp-pw', email, '#token=', body.password]) expect(log).not.toContain(secret);
});

test('mailer: gives up after the last delay, and logs neither text nor address', async () => {
  let tries = 0;
  const transport: MailTransport = {
    async send() {
      tries++;
      throw Object.assign(new Error(`no relay for ${MAIL.to}: ${MAIL.text}`), { code: 'EENVELOPE' });
    },
    close: () => {},
  };
  const { lines, log } = collectingLogger();
  const mailer = new Mailer(transport, log, [1, 1]);
  mailer.enqueue(MAIL);
  await eventually(() => expect(tries).toBe(3));
  await eventually(() => expect(mailer.pending).toBe(0));
  expect(lines.filter((line) => line.includes('mail not sent'))).toHaveLength(3);
  expect(lines.join('')).not.toMatch(/s3cr3t|ada@example\.com/);
});

test('mailer: the queue is bounded, at most 4 are sent at once, and the stop waits for those', async () => {
  let now = 0;
  let most = 0;
  let sent = 0;
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const transport: MailTransport = {
    async send() {
      most = Math.max(most, ++now);
      await gate;
      now--;
      sent++;
    },
    close: () => {},
  };
  const { lines, log } = collectingLogger();
  const mailer = new Mailer(transport, log);
  for (let n = 0; n < 1_005; n++) mailer.enqueue(MAIL);
  expect(mailer.pending).toBe(1_000);
  expect(lines.filter((line) => line.includes('mail dropped'))).toHaveLength(5);
  release();
  await mailer.stop(10_000);
  expect([most, sent, mailer.pending]).toEqual([4, 1_000, 0]);
  mailer.enqueue(MAIL);
  expect(mailer.pending).toBe(0);
});

test('outbox: each mail is one .eml file with mode 0600 in a directory with mode 0700', async () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-outbox-'));
  cleanups.push(() => rmSync(home, { recursive: true }));
  const directory = join(home, 'outbox');
  const transport = createOutboxTransport(directory, FROM);
  await transport.send({ ...MAIL, text: 'größer = kleiner\n' });
  const files = readdirSync(directory);
  expect(files).toEqual([expect.stringMatching(/\.eml$/)]);
  expect(statSync(join(directory, files[0]!)).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  const mail = parseMail(readFileSync(join(directory, files[0]!), 'utf8'));
  expect([mail.header('to'), mail.header('from'), mail.header('subject')]).toEqual([MAIL.to, FROM, 'Hello']);
  expect(mail.text.trim()).toBe('größer = kleiner');
});
