/**
 * `acg run`: runs an unmodified program through the gateway, with a gateway token that is revoked when the program
 * exits.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { resolveGatewayUrl } from '../../invocation/data-plane-client.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import {
  appendValue,
  parseDollarsAsCents,
  parseList,
  parsePair,
} from '../../options/page-options-and-value-parsers.js';
import { parseDuration } from '../../options/parse-duration.js';
import { runChild, SignalForwarder, signalExitCode } from '../../run/child-process.js';
import { type TrustRuleOptions, WorkloadGatewayToken } from '../../run/exchange-workload-token.js';
import { type GatewayToken, type RunBudget, revokeMintedToken, withGatewayToken } from '../../run/gateway-token.js';
import { MCP_CLIENTS, type McpClient } from '../../run/mcp-client-config.js';
import { prepareRun, type RunPlanOptions } from '../../run/prepare-run.js';
import { usage } from '../../terminal/cli-error.js';
import { formatDuration } from '../../terminal/format-numbers-and-times.js';
import { listMcpServers, writeMcpConfigOfRun } from './mcp-config.js';

export interface RunOptions extends RunPlanOptions, TrustRuleOptions {
  readonly ttl: string;
  readonly personal?: true;
  readonly budget?: number;
  readonly for?: string;
  readonly label?: string;
  readonly shell?: string;
  readonly mcpClient?: McpClient;
}

/** Accepts valid variable names only; others could not be set. */
function appendVariable(text: string, before: readonly (readonly [string, string])[] = []) {
  const [name, value] = parsePair(text);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new InvalidArgumentError('It must start with a variable name.');
  return [...before, [name, value] as const];
}

export const addRunOptions = (command: Command): Command =>
  command
    .option('--agent <agent>', 'name, slug or id (ACG_AGENT)')
    .option('--personal', 'your personal agent, in the project that allows one; without an agent this is the default')
    .option('--ttl <span>', 'how long a token made for this lives at most', '12h')
    .option('--providers <slugs>', 'only these of its providers, e.g. openai,s3', parseList)
    .option('--set <name=value>', 'one more variable; repeatable', appendVariable)
    .option('--keep <name>', 'leave this variable as it is; repeatable', appendValue);

export function registerRunCommand(command: Command, { begin, setExitCode: exit }: ProgramInterface): void {
  addRunOptions(command)
    .argument('[command...]', 'the program and its arguments')
    .usage('[--agent <agent> | --personal] [options] -- <command> [arguments…]')
    .option('--budget <usd>', 'what the program may spend: it gets a run with this hard budget', parseDollarsAsCents)
    .option('--for <span>', 'with --budget: how long the run lasts at most, 1m to 30d; --ttl, if left out')
    .option('--label <text>', 'with --budget: what the run is for')
    .option('--trust-rule <id>', 'exchange the token of this CI job, pod or workload for a gateway token')
    .option('--token-file <path>', 'with --trust-rule: the file that holds that token')
    .option('--audience <audience>', 'with --trust-rule: the audience of the rule, if --url is not the gateway’s own')
    .addOption(
      new Option('--mcp-client <client>', 'first write its configuration here, as mcp config does').choices(
        MCP_CLIENTS,
      ),
    )
    .option('--shell <line>', 'a line for the shell instead, whose $VARIABLES are those of the child')
    .action(async (words: readonly string[], options: RunOptions) => {
      const run = begin();
      const [file, ...args] = resolveCommand(words, options.shell, run.terminal.platform);
      const ttlMs =
        options.for === undefined ? parseDuration(options.ttl, '--ttl') : parseDuration(options.for, '--for');
      const gatewayUrl = await resolveGatewayUrl(run);
      const budget = readRunBudget(options, gatewayUrl);
      const signals = new SignalForwarder();
      try {
        exit(
          await withRevokedToken(run, options, { ttlMs, budget, gatewayUrl }, signals, async (token) => {
            const plan = await prepareRun(run, options, { token, gatewayUrl, signal: signals.abortSignal });
            if (signals.receivedSignal !== null) return signalExitCode(signals.receivedSignal);
            if (options.mcpClient !== undefined)
              writeMcpConfigOfRun(run, options.mcpClient, listMcpServers(plan.self, gatewayUrl, undefined));
            run.printNote(formatStartLine(plan, token, gatewayUrl, ttlMs));
            for (const remark of plan.remarks) run.printNote(`acg: ${remark}`);
            return runChild({ file: file!, args, env: plan.env }, run.terminal, signals);
          }),
        );
      } catch (error) {
        if (signals.receivedSignal === null) throw error;
        exit(signalExitCode(signals.receivedSignal)); // the signal caused the failure
      } finally {
        signals.removeListeners();
      }
    });
}

/** Revokes a token that was created for `work` in every case, and renews one of an exchange meanwhile. */
async function withRevokedToken(
  run: Invocation,
  options: RunOptions,
  {
    ttlMs,
    budget,
    gatewayUrl,
  }: { readonly ttlMs: number; readonly budget: RunBudget | null; readonly gatewayUrl: string },
  signals: SignalForwarder,
  work: (token: GatewayToken) => Promise<number>,
): Promise<number> {
  const { agent, personal, trustRule } = options;
  if (trustRule !== undefined) {
    if (budget !== null)
      throw usage('--budget and --trust-rule exclude each other', 'start the run inside: acg run --budget');
    const exchanged = await WorkloadGatewayToken.obtain(run, trustRule, options);
    exchanged.startRenewing();
    try {
      return signals.receivedSignal === null ? await work(exchanged.token) : signalExitCode(signals.receivedSignal);
    } finally {
      exchanged.stopRenewing();
    }
  }
  if (options.tokenFile !== undefined || options.audience !== undefined)
    throw usage('--token-file and --audience need --trust-rule');
  return withGatewayToken(run, { agent, personal, ttlMs, budget }, async (token) => {
    try {
      return signals.receivedSignal === null ? await work(token) : signalExitCode(signals.receivedSignal);
    } finally {
      await revokeMintedToken(run, token, gatewayUrl);
    }
  });
}

function readRunBudget({ budget, label, for: span }: RunOptions, gatewayUrl: string): RunBudget | null {
  if (budget !== undefined) return { budgetCents: budget, label, gatewayUrl };
  if (span !== undefined || label !== undefined) throw usage('--for and --label need --budget');
  return null;
}

function resolveCommand(
  words: readonly string[],
  shell: string | undefined,
  platform: NodeJS.Platform,
): readonly string[] {
  if (shell === undefined) {
    if (words.length === 0) throw usage('which command?', 'acg run --agent <agent> -- <command>');
    return words;
  }
  if (words.length > 0) throw usage('--shell and a command after -- exclude each other');
  return platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c', shell] : ['/bin/sh', '-c', shell];
}

function formatStartLine(
  { agent, providers, removed }: Awaited<ReturnType<typeof prepareRun>>,
  { source }: GatewayToken,
  gatewayUrl: string,
  ttlMs: number,
): string {
  const life =
    source === 'minted' ? `token ends with the command (${formatDuration(ttlMs)} at most)` : `token: ${source}`;
  const secrets = removed.length === 0 ? '' : `; removed ${removed.join(', ')}`;
  return `acg: ${agent.slug} → ${providers.join(', ') || 'no provider'} via ${gatewayUrl}; ${life}${secrets}`;
}
