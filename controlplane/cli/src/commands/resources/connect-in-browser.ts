/**
 * `acg accounts connect` and `acg credentials connect`: opens the page of the dashboard that names organization, agent
 * and provider, and waits until a person has connected the account there. The flow itself runs in the browser, which
 * holds the session, so a command line alone can connect nothing.
 */

import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import type { Command } from 'commander';
import type { ResponseOf } from '../../api/call-api-operation.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { parseDuration } from '../../options/parse-duration.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';
import { escapeControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatMinute } from '../../terminal/format-numbers-and-times.js';
import { addTarget, type Found, findTarget, type Target } from '../descriptors/operation-target-from-arguments.js';

const POLL_MS = 2_000;
/** A connection that was begun must be finished within this time. */
const WAIT_DEFAULT = '10m';
const CONNECTED_KIND = 'oauth2_authorization_code';

type Minted = NonNullable<ResponseOf<'GET /v1/providers/accounts/{id}'>['account']['minted']>;

interface ConnectSubject {
  readonly minted: Minted | null;
}

interface ConnectCommand<Subject extends ConnectSubject> {
  readonly description: string;
  readonly target: Target;
  readonly load: (client: Client, id: string) => Promise<Subject>;
  /** Path and query of its page in the dashboard. */
  readonly page: (subject: Subject) => string;
  /** E.g. `support-bot at linear`. */
  readonly name: (subject: Subject) => string;
}

export const connectCommand =
  <Subject extends ConnectSubject>(command: ConnectCommand<Subject>) =>
  (group: Command, { begin }: ProgramInterface): void => {
    const registered = group.command('connect').description(command.description);
    addTarget(registered, command.target);
    registered
      .option('--wait <duration>', `how long to wait for the person in the browser; ${WAIT_DEFAULT} by default`)
      .option('--no-open', 'print the address only, for a browser elsewhere');
    registered.action(async () => {
      const run = begin();
      const { found } = await findTarget(registered, run, command.target);
      const { wait = WAIT_DEFAULT, open } = registered.opts<{ readonly wait?: string; readonly open: boolean }>();
      const waitMs = parseDuration(wait, '--wait');
      await connect(run, command, found, { wait, waitMs, isOpening: open && run.isInteractive });
    });
  };

async function connect<Subject extends ConnectSubject>(
  run: Invocation,
  { load, page, name }: ConnectCommand<Subject>,
  { id }: Found,
  { wait, waitMs, isOpening }: { readonly wait: string; readonly waitMs: number; readonly isOpening: boolean },
): Promise<void> {
  const client = await run.getClient();
  const before = await load(client, id);
  if (before.minted?.kind !== CONNECTED_KIND)
    throw usage(`${name(before)} does not use OAuth consent`, 'only credentials with method=connect can be connected');
  const { publicUrl } = await run.createPublicClient().get('/v1/config');
  const url = `${publicUrl.replace(/\/+$/, '')}${page(before)}`;
  // Printed even with --quiet, because the command needs it. The URL comes last: terminals treat following text as part.
  run.terminal.stderr.write(
    `Connect ${escapeControlCharacters(name(before))} as an admin: ${escapeControlCharacters(url)}\n`,
  );
  if (isOpening) await (await import('../../terminal/open-browser.js')).openInBrowser(run, url);
  const endMs = Date.now() + waitMs;
  for (let subject = before; ; subject = await load(client, id)) {
    const { minted } = subject;
    if (minted !== null && minted.connectedAt !== null && minted.connectedAt !== before.minted.connectedAt) {
      run.printResult(subject, () =>
        run.printSuccess(`${name(subject)} is connected (${minted.scope ?? 'no scope stated'})`),
      );
      return;
    }
    if (Date.now() + POLL_MS > endMs)
      throw new CliError(EXIT_CODES.failed, `timed out after ${wait}: ${name(before)} was not connected`, {
        hint: 'run the command again, or raise --wait',
      });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Fields of `show`: how the credential was obtained, what went wrong and what to do. */
export function describeMinted(minted: Minted | null): Record<string, string> {
  if (minted === null) return { kind: 'stored' };
  const { failure } = minted;
  return {
    kind: `${minted.method} (${minted.kind})`,
    state: minted.state,
    scope: minted.scope ?? '–',
    ...(minted.kind === CONNECTED_KIND ? { connected: formatMinute(minted.connectedAt) } : {}),
    refreshed: formatMinute(minted.mintedAt),
    expires: formatMinute(minted.expiresAt),
    ...(failure === null
      ? {}
      : {
          failure: `${failure.cause}${failure.detail === null ? '' : ` (${failure.detail})`}`,
          remedy: failure.remedy,
          failed: formatMinute(failure.at),
        }),
  };
}
