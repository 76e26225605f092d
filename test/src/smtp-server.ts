/** A real SMTP server on a port of its own, which keeps the mails that it takes. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface Received {
  readonly to: string[];
  readonly source: string;
  readonly user: string | undefined;
}

interface TestSmtpServer {
  /** With user and password. */
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** Asks for a login, and refuses the first `refusals` mails for now. */
export async function startSmtpServer(refusals = 0): Promise<TestSmtpServer> {
  const received: Received[] = [];
  let refused = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'smtp-pw' ? done(null, { user: username }) : done(new Error('bad login')),
    onData(stream, session, done) {
      let source = '';
      stream.on('data', (chunk: Buffer) => {
        source += chunk.toString('utf8');
      });
      stream.on('end', () => {
        if (refused++ < refusals) return done(Object.assign(new Error('later please'), { responseCode: 451 }));
        received.push({ to: session.envelope.rcptTo.map((to) => to.address), source, user: session.user as string });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url: `smtp://gateway:smtp-pw@127.0.0.1:${port}`, received, close };
}
