/** `acg status`: does it work, for whom, and what does not. */
import type { Command } from 'commander';
import { identityLine, whoIs } from '../api/identity.js';
import type { Invocation } from '../invocation/invocation.js';
import { gatewayUrlOf, probeGateway } from '../run/gateway.js';
import { EXIT, failureOf } from '../terminal/failure.js';
import type { Tree } from './tree.js';

/** The value, or what stood in the way. */
async function orProblem<T>(work: Promise<T>): Promise<{ value: T; problem: null } | { value: null; problem: string }> {
  try {
    return { value: await work, problem: null };
  } catch (error) {
    return { value: null, problem: failureOf(error).message };
  }
}

export function statusCommand(command: Command, { begin, exit }: Tree): void {
  command.action(async () => {
    const run = begin();
    const { url, token, profile } = run.settings;
    const client = run.publicClient();
    const [config, providers, session, gateway] = await Promise.all([
      orProblem(client.get('/v1/config')),
      orProblem(client.get('/v1/status')),
      token === null ? null : orProblem(run.client().then(whoIs)),
      orProblem(gatewayUrlOf(run).then(async (address) => ({ url: address, latencyMs: await probeGateway(address) }))),
    ]);
    const isUp = providers.value?.status === 'operational' && (session === null || session.value !== null);
    const body = {
      ok: isUp && config.value !== null && gateway.value !== null,
      url,
      profile,
      version: config.value?.version ?? null,
      session: session?.value ?? null,
      gateway: gateway.value,
      providers: providers.value?.providers ?? [],
      problems: [config, providers, session, gateway].flatMap((part) => (part?.problem == null ? [] : [part.problem])),
    };
    run.show(body, () => showStatus(run, body, session !== null));
    if (!body.ok) exit(EXIT.failed);
  });
}

interface Status {
  readonly url: string;
  readonly version: string | null;
  readonly session: Parameters<typeof identityLine>[0] | null;
  readonly gateway: { readonly url: string; readonly latencyMs: number } | null;
  readonly providers: readonly { readonly slug: string; readonly status: string }[];
  readonly problems: readonly string[];
}

function showStatus(run: Invocation, status: Status, loggedIn: boolean): void {
  const { session, gateway } = status;
  run.facts({
    gateway: `${status.url} ${status.version ?? 'does not answer'}`,
    session: session === null ? (loggedIn ? 'ended or refused' : 'not logged in') : identityLine(session),
    proxy: gateway === null ? 'not reachable' : `${gateway.url} answers in ${gateway.latencyMs} ms`,
    providers: status.providers.map(({ slug, status: health }) => `${slug} ${health}`).join(' · ') || null,
  });
  for (const problem of status.problems) run.note(`acg: ${problem}`);
}
