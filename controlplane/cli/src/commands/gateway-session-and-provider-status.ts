/** `acg status`: checks the gateway, the session and the providers. */
import type { Command } from 'commander';
import { fetchIdentity, formatIdentity } from '../api/identity.js';
import { probeGateway, resolveGatewayUrl } from '../invocation/data-plane-client.js';
import type { Invocation } from '../invocation/invocation.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { EXIT_CODES, toCliError } from '../terminal/cli-error.js';

/** Returns the value or a description of the failure. */
async function resultOrProblem<T>(
  work: Promise<T>,
): Promise<{ value: T; problem: null } | { value: null; problem: string }> {
  try {
    return { value: await work, problem: null };
  } catch (error) {
    return { value: null, problem: toCliError(error).message };
  }
}

export function registerStatusCommand(command: Command, { begin, setExitCode: exit }: ProgramInterface): void {
  command.action(async () => {
    const run = begin();
    const { url, token, profile } = run.settings;
    const client = run.createPublicClient();
    const [config, providers, session, gateway] = await Promise.all([
      resultOrProblem(client.get('/v1/config')),
      resultOrProblem(client.get('/v1/status')),
      token === null ? null : resultOrProblem(run.getClient().then(fetchIdentity)),
      resultOrProblem(
        resolveGatewayUrl(run).then(async (address) => ({ url: address, latencyMs: await probeGateway(address) })),
      ),
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
      problems: [
        ...new Set(
          [config, providers, session, gateway].flatMap((part) => (part?.problem == null ? [] : [part.problem])),
        ),
      ],
    };
    run.printResult(body, () => printStatus(run, body, session !== null));
    if (!body.ok) exit(EXIT_CODES.failed);
  });
}

interface Status {
  readonly url: string;
  readonly version: string | null;
  readonly session: Parameters<typeof formatIdentity>[0] | null;
  readonly gateway: { readonly url: string; readonly latencyMs: number } | null;
  readonly providers: readonly { readonly slug: string; readonly status: string }[];
  readonly problems: readonly string[];
}

function printStatus(run: Invocation, status: Status, loggedIn: boolean): void {
  const { session, gateway } = status;
  run.printFields({
    gateway: `${status.url} ${status.version ?? 'does not answer'}`,
    session: session === null ? (loggedIn ? 'ended or refused' : 'not logged in') : formatIdentity(session),
    proxy: gateway === null ? 'not reachable' : `${gateway.url} answers in ${gateway.latencyMs} ms`,
    providers: summarizeProviders(status.providers),
  });
  for (const problem of status.problems) run.printNote(`acg: ${problem}`);
}

/** Names only providers that do not work: the gateway has some 60 built-in ones. */
function summarizeProviders(providers: Status['providers']): string | null {
  if (providers.length === 0) return null;
  const failing = providers.filter(({ status }) => status !== 'operational');
  const working = `${providers.length - failing.length} of ${providers.length} operational`;
  return [working, ...failing.map(({ slug, status }) => `${slug} ${status}`)].join(' · ');
}
