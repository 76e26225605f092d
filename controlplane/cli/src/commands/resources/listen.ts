/**
 * `acg listen`: sends the organization's events to a URL that this machine reaches, such as a local port. It polls the
 * events of the API, so the gateway needs neither an endpoint nor a way to this machine. Body and headers are those of a
 * webhook delivery. A delivery that fails is shown and not repeated.
 */
import { randomBytes } from 'node:crypto';
import { SIGNING_SECRET_PREFIX, signWebhookBody } from '@acg/base/webhook-body-signature';
import type { Command } from 'commander';
import { followRows, PAGE_ROWS_MAX } from '../../api/follow-rows.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { parseList } from '../../options/page-options-and-value-parsers.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';
import { formatSecond } from '../../terminal/format-numbers-and-times.js';

/** As for a webhook delivery. */
const TIMEOUT_MS = 10_000;

interface ListenOptions {
  readonly forwardTo: string;
  readonly events?: readonly string[];
  readonly secretEnv?: string;
  readonly sample?: string;
}

interface Event {
  readonly id: string;
  readonly event: string;
  readonly occurredAt: string;
  readonly data: object;
}

export function registerListenCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .requiredOption('--forward-to <url>', 'where each event is posted, e.g. http://localhost:3000/hooks')
    .option('--events <events>', 'only these, e.g. usage.threshold,agent.deleted', parseList)
    .option('--secret-env <name>', 'a variable with the signing secret; a new one, if left out')
    .option('--sample <event>', 'post a sample of this event and end; exit 1 unless the receiver answers 2xx')
    .action(async ({ forwardTo, events, secretEnv, sample }: ListenOptions) => {
      const run = begin();
      if (!/^https?:\/\//.test(forwardTo) || !URL.canParse(forwardTo))
        throw usage('--forward-to must be an http or https URL');
      const client = await run.getClient();
      const secret = readSigningSecret(run, secretEnv);
      const { types } = await client.get('/v1/events/types');
      const unknown = [...(events ?? []), ...(sample === undefined ? [] : [sample])].find(
        (name) => !types.some(({ event }) => event === name),
      );
      if (unknown !== undefined) throw usage(`there is no event ${unknown}`, 'acg events types');
      if (sample !== undefined) {
        const { sample: data } = types.find(({ event }) => event === sample)!;
        const event = { id: crypto.randomUUID(), event: sample, occurredAt: new Date().toISOString(), data };
        const { status, line } = await forwardEvent(forwardTo, event, secret);
        run.printResult({ event, status }, () => run.printLine(line));
        if (status === null || status < 200 || status > 299)
          throw new CliError(EXIT_CODES.failed, `${forwardTo} did not accept the event`);
        return;
      }
      run.printNote(`events go to ${forwardTo}; Ctrl-C ends it`);
      await followRows(run, {
        async fetchNewest() {
          const { events: rows } = await client.get('/v1/events', { params: { query: { limit: PAGE_ROWS_MAX } } });
          return rows.filter(({ event }) => events === undefined || events.includes(event));
        },
        line: async (event) => (await forwardEvent(forwardTo, event, secret)).line,
        skipExisting: true,
      });
    });
}

function readSigningSecret(run: Invocation, variable: string | undefined): string {
  if (variable === undefined) {
    const secret = SIGNING_SECRET_PREFIX + randomBytes(32).toString('hex');
    // Also with --quiet, because a receiver cannot check the signature without it.
    run.terminal.stderr.write(`signed with ${secret}\n`);
    return secret;
  }
  const secret = run.terminal.env[variable];
  if (!secret) throw usage(`the variable ${variable} holds nothing`);
  return secret;
}

/** `status`: of the receiver; null when it did not answer. */
async function forwardEvent(
  url: string,
  { id, event, occurredAt, data }: Event,
  secret: string,
): Promise<{ readonly status: number | null; readonly line: string }> {
  const body = JSON.stringify({ event, timestamp: occurredAt, data });
  const signature = signWebhookBody(secret, body);
  const headers = {
    'content-type': 'application/json',
    'x-webhook-signature': signature,
    'x-webhook-signatures': `v1=${signature}`,
    'x-webhook-event': event,
    'x-webhook-delivery': id,
  };
  const startMs = performance.now();
  const outcome = await fetch(url, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => error);
  const at = formatSecond(occurredAt);
  if (outcome instanceof Error) {
    const { code, message } = (outcome.cause ?? outcome) as NodeJS.ErrnoException;
    return { status: null, line: `${at} ${event} → no answer: ${code ?? message}` };
  }
  await outcome.body?.cancel();
  return {
    status: outcome.status,
    line: `${at} ${event} → ${outcome.status} in ${Math.round(performance.now() - startMs)} ms`,
  };
}
