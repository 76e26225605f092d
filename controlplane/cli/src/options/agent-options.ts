/** Options for the settings of an agent. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { InvalidArgumentError, Option } from 'commander';
import type { BodyOf } from '../api/call-api-operation.js';
import type { Invocation } from '../invocation/invocation.js';
import { usage } from '../terminal/cli-error.js';
import { readFileOrStdin } from '../terminal/secret-input.js';
import { choiceField, type Field, type Fields, mapField, parsedField, parsedOrNoneField, textField } from './field.js';
import { parseDollarsAsCents, parseList, parseWholeNumber } from './page-options-and-value-parsers.js';

type AgentSettings = BodyOf<'PATCH /v1/agents/{id}'>;

/** `--rpm`, `--rpd` and so on. */
const RATE_LIMIT_FIELDS = Object.fromEntries(
  RATE_LIMITS.map(({ type, field, label, default: fallback }) => {
    const none = fallback === null ? 'none' : 'none for the default';
    const help = `${label.toLowerCase()} and provider, or ${none}`;
    return [field, parsedOrNoneField(`--${type} <n>`, help, parseWholeNumber)];
  }),
) as { readonly [field in RateLimit['field']]: Field<number | null> };

export const AGENT_FIELDS = {
  description: textField('--description <text>', 'purpose of the agent'),
  budgetCentsMonthly: parsedOrNoneField('--budget <usd>', 'US dollars a month, or none', parseDollarsAsCents),
  ...RATE_LIMIT_FIELDS,
  usageThresholds: mapField(
    parsedOrNoneField(
      '--threshold <percents>',
      'percentages of the budget that send an event, e.g. 50,80, or none',
      parsePercents,
    ),
    (percents) => percents ?? [],
  ),
  budgetMode: choiceField('--budget-mode <mode>', 'how strict the budget is', ['soft', 'hard']),
  holdMaxOutputTokens: parsedField(
    '--hold-max-output-tokens <n>',
    'what a hard budget reserves for a call without a maximum',
    parseWholeNumber,
  ),
  onStoreLoss: mapField(
    choiceField('--on-store-loss <what>', 'calls while limits cannot be checked', ['allow', 'refuse', 'default']),
    (what) => (what === 'default' ? null : what),
  ),
} satisfies Fields<AgentSettings>;

export const POLICY_FILE_OPTION = new Option(
  '--policy-file <file>',
  'JSON: which calls and models it may use; - for standard input',
);

interface PolicyOptions {
  readonly policyFile?: string;
  /** False for `--no-policy`. */
  readonly policy?: boolean;
}

/** Returns no field without `--policy-file`. The API validates the contents. */
export async function readPolicyFile(
  { terminal }: Pick<Invocation, 'terminal'>,
  { policy: keepsPolicy, policyFile }: PolicyOptions,
): Promise<Pick<AgentSettings, 'policy'>> {
  if (policyFile === undefined) return {};
  if (keepsPolicy === false) throw usage('--policy-file and --no-policy contradict each other');
  const policy = parsePolicy(await readFileOrStdin(terminal, policyFile));
  // Null would remove the policy without a question.
  if (policy === null) throw usage('--policy-file holds null, which is no policy', '--no-policy removes the policy');
  return { policy };
}

function parsePolicy(text: string): NonNullable<AgentSettings['policy']> | null {
  try {
    return JSON.parse(text);
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
