/** Options for the settings of an agent. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limits';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { omitUndefined } from '../api/omit-undefined.js';
import type { Invocation } from '../invocation/invocation.js';
import { usage } from '../terminal/cli-error.js';
import { readFileOrStdin } from '../terminal/secret-input.js';
import {
  noneToNull,
  type OrNone,
  parseDollarsAsCents,
  parseList,
  parseOrNone,
  parseWholeNumber,
} from './parse-options.js';

/** `--rpm`, `--rpd` and so on. */
type RateLimitOptions = { readonly [type in RateLimit['type']]?: OrNone<number> };

export interface AgentOptions extends RateLimitOptions {
  readonly name?: string;
  readonly description?: string;
  readonly budget?: OrNone<number>;
  readonly threshold?: OrNone<readonly number[]>;
  readonly budgetMode?: 'soft' | 'hard';
  readonly holdMaxOutputTokens?: number;
  readonly onStoreLoss?: 'allow' | 'refuse' | 'default';
  readonly policyFile?: string;
  /** False for `--no-policy`. */
  readonly policy?: boolean;
}

export function addAgentOptions(command: Command): Command {
  command
    .option('--description <text>', 'purpose of the agent')
    .option('--budget <usd>', 'US dollars a month, or none', parseOrNone(parseDollarsAsCents));
  for (const { type, label, default: fallback } of RATE_LIMITS) {
    const none = fallback === null ? 'none' : 'none for the default';
    command.option(`--${type} <n>`, `${label.toLowerCase()} and provider, or ${none}`, parseOrNone(parseWholeNumber));
  }
  return command
    .option(
      '--threshold <percents>',
      'percentages of the budget that send an event, e.g. 50,80, or none',
      parseOrNone(parsePercents),
    )
    .addOption(new Option('--budget-mode <mode>', 'how strict the budget is').choices(['soft', 'hard']))
    .option(
      '--hold-max-output-tokens <n>',
      'what a hard budget reserves for a call without a maximum',
      parseWholeNumber,
    )
    .addOption(
      new Option('--on-store-loss <what>', 'calls while limits cannot be checked').choices([
        'allow',
        'refuse',
        'default',
      ]),
    )
    .option('--policy-file <file>', 'JSON: which calls and models it may use; - for standard input');
}

export async function toAgentFields(run: Pick<Invocation, 'terminal'>, options: AgentOptions) {
  const { threshold, budget, onStoreLoss } = options;
  const rates = Object.fromEntries(RATE_LIMITS.map(({ field, type }) => [field, noneToNull(options[type])]));
  return omitUndefined({
    name: options.name,
    description: options.description,
    budgetCentsMonthly: noneToNull(budget),
    ...(rates as { readonly [field in RateLimit['field']]: number | null | undefined }),
    usageThresholds: threshold === 'none' ? [] : threshold === undefined ? undefined : [...threshold],
    budgetMode: options.budgetMode,
    holdMaxOutputTokens: options.holdMaxOutputTokens,
    onStoreLoss: onStoreLoss === 'default' ? null : onStoreLoss,
    policy: await readPolicy(run, options),
  });
}

type Policy = Record<string, { calls?: string[]; models?: { allow?: string[]; deny?: string[] } }>;

/** Null allows every call. The API validates the contents. */
async function readPolicy(
  { terminal }: Pick<Invocation, 'terminal'>,
  { policy, policyFile }: AgentOptions,
): Promise<Policy | null | undefined> {
  if (policyFile === undefined) return policy === false ? null : undefined;
  if (policy === false) throw usage('--policy-file and --no-policy contradict each other');
  try {
    return JSON.parse(await readFileOrStdin(terminal, policyFile)) as Policy;
  } catch (error) {
    throw usage(`--policy-file: ${(error as Error).message}`);
  }
}

function parsePercents(text: string): number[] {
  const values = parseList(text).map((item) => Number(item.replace(/%$/, '')));
  if (values.length === 0 || values.some((value) => !Number.isInteger(value)))
    throw new InvalidArgumentError('It must be whole percents, e.g. 50,80.');
  return values;
}
