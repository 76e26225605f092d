/** `acg run`: an unmodified program on the gateway, with a token that ends with it. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Invocation } from '../invocation/invocation.js';
import { codeOfSignal, runChild, Signals } from '../run/child.js';
import { gatewayUrlOf } from '../run/gateway.js';
import { type GatewayToken, gatewayToken, revokeMinted } from '../run/gateway-token.js';
import { type PrepareOptions, prepare } from '../run/prepare.js';
import { EXIT, Failure, failureOf, usage } from '../terminal/failure.js';
import { duration } from '../terminal/format.js';
import { parseDuration } from './duration.js';
import { collect, list, pair } from './options.js';
import type { Tree } from './tree.js';

export interface RunOptions extends PrepareOptions {
  readonly ttl: string;
  readonly shell?: string;
}

/** Names of variables only: what is none could not be set. */
function variable(text: string, before: readonly (readonly [string, string])[] = []) {
  const [name, value] = pair(text);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new InvalidArgumentError('It must begin with the name of a variable.');
  return [...before, [name, value] as const];
}

export const addRunOptions = (command: Command): Command =>
  command
    .option('--agent <agent>', 'name, slug or id (ACG_AGENT)')
    .option('--ttl <span>', 'how long a token made for this lives at most', '12h')
    .option('--providers <slugs>', 'only these of its providers, e.g. openai,s3', list)
    .option('--set <name=value>', 'one more variable; repeatable', variable)
    .option('--keep <name>', 'leave this variable as it is; repeatable', collect);

export function runCommand(command: Command, { begin, exit }: Tree): void {
  addRunOptions(command)
    .argument('[command...]', 'after --')
    .usage('--agent <agent> [options] -- <command> [arguments…]')
    .option('--shell <line>', 'a line for the shell instead, whose $VARIABLES are those of the child')
    .action(async (words: readonly string[], options: RunOptions) => {
      const run = begin();
      const [file, ...args] = commandOf(words, options.shell, run.terminal.platform);
      const ttlMs = parseDuration(options.ttl, '--ttl');
      const gatewayUrl = await gatewayUrlOf(run);
      const signals = new Signals();
      try {
        exit(
          await withToken(run, options, ttlMs, signals, async (token) => {
            const plan = await prepare(run, options, { token, gatewayUrl, signal: signals.aborted });
            if (signals.received !== null) return codeOfSignal(signals.received);
            run.note(startLine(plan, token, gatewayUrl, ttlMs));
            for (const remark of plan.remarks) run.note(`acg: ${remark}`);
            return runChild({ file: file!, args, env: plan.env }, run.terminal, signals);
          }),
        );
      } catch (error) {
        if (signals.received === null) throw error;
        exit(codeOfSignal(signals.received)); // that is why it failed
      } finally {
        signals.release();
      }
    });
}

/** Whatever happens in `work`, a token made for it does not outlive it; a saved one that has ended is made anew. */
async function withToken(
  run: Invocation,
  { agent }: RunOptions,
  ttlMs: number,
  signals: Signals,
  work: (token: GatewayToken) => Promise<number>,
): Promise<number> {
  const token = await gatewayToken(run, agent, ttlMs);
  try {
    if (signals.received !== null) return codeOfSignal(signals.received);
    return await work(token);
  } catch (error) {
    const failure = failureOf(error);
    if (token.source === 'saved' && failure.exitCode === EXIT.unauthenticated)
      throw new Failure(EXIT.unauthenticated, 'the saved gateway token has ended', {
        hint: `acg keys create --agent ${agent ?? '…'} --name … --save`,
      });
    throw failure;
  } finally {
    await revokeMinted(run, token);
  }
}

function commandOf(words: readonly string[], shell: string | undefined, platform: NodeJS.Platform): readonly string[] {
  if (shell === undefined) {
    if (words.length === 0) throw usage('which command?', 'acg run --agent <agent> -- <command>');
    return words;
  }
  if (words.length > 0) throw usage('--shell and a command after -- exclude each other');
  return platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c', shell] : ['/bin/sh', '-c', shell];
}

function startLine(
  { agent, providers, removed }: Awaited<ReturnType<typeof prepare>>,
  { source }: GatewayToken,
  gatewayUrl: string,
  ttlMs: number,
): string {
  const life = source === 'minted' ? `token ends with the command (${duration(ttlMs)} at most)` : `token: ${source}`;
  const secrets = removed.length === 0 ? '' : `; removed ${removed.join(', ')}`;
  return `acg: ${agent.slug} → ${providers.join(', ') || 'no provider'} via ${gatewayUrl}; ${life}${secrets}`;
}
