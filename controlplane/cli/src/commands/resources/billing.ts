/**
 * `acg bill`: compares a month of the ledger with the reports of the providers. `check` reads them now and fails with
 * exit code 1 where an open difference or a problem is left.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ResponseOf } from '../../api/call-api-operation.js';
import { isUuid, selectByName } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { choiceField, defaultField, parsedField, textField } from '../../options/field.js';
import { parseDollarsAsCents } from '../../options/page-options-and-value-parsers.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';
import { formatCents, formatCount, formatMinute } from '../../terminal/format-numbers-and-times.js';
import { promptSecret } from '../../terminal/prompt.js';
import { readSecret, type SecretSource } from '../../terminal/secret-input.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

type Report = ResponseOf<'GET /v1/billing'>;
type Account = Report['accounts'][number];

const ACCOUNT = {
  argument: ['<account>', 'name, provider or id of a billing account'],
  async find(run, text) {
    const { accounts } = await (await run.getClient()).get('/v1/billing', {});
    const byProvider = accounts.find(({ providerSlug }) => providerSlug === text);
    if (byProvider !== undefined) return byProvider;
    if (isUuid(text)) return { id: text };
    return selectByName(accounts, text, 'billing account', 'acg bill ls');
  },
} as const satisfies Target;

function parseMonth(text: string): string {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('It must be a month, e.g. 2026-01.');
  return text;
}

/** Converts `-12.50` to -1250. */
function parseSignedDollars(text: string): number {
  return text.startsWith('-') ? -parseDollarsAsCents(text.slice(1)) : parseDollarsAsCents(text);
}

const monthField = parsedField('--month <month>', 'YYYY-MM in UTC; this month by default', parseMonth);
const MONTH_OPTION = new Option('--month <month>', 'YYYY-MM in UTC; this month by default').argParser(parseMonth);
const alertField = parsedField(
  '--alert <usd>',
  'unattributed cost of a key and day that is an event',
  parseDollarsAsCents,
);

const KEY_OPTIONS: readonly Option[] = [
  new Option('--key-stdin', 'read the admin key from stdin'),
  new Option('--key-file <file>', 'read it from a file; - for stdin'),
  new Option('--key-env <name>', 'read it from a variable'),
];

interface KeyOptions {
  readonly keyStdin?: true;
  readonly keyFile?: string;
  readonly keyEnv?: string;
}

const toSecretSource = ({ keyStdin, keyFile, keyEnv }: KeyOptions): SecretSource => ({
  stdin: keyStdin,
  file: keyFile,
  env: keyEnv,
});

async function readAdminKey(run: Invocation, options: KeyOptions): Promise<string> {
  const given = await readSecret(run.terminal, toSecretSource(options));
  return given ?? promptSecret(run, { message: 'Admin key', flag: '--key-stdin, --key-file or --key-env' });
}

const ACCOUNT_COLUMNS = [
  { title: 'ACCOUNT', cell: ({ name }: Account) => name },
  { title: 'PROVIDER', cell: ({ providerSlug }: Account) => providerSlug },
  { title: 'STATE', cell: ({ state }: Account) => state },
  { title: 'OURS', cell: ({ ourCents }: Account) => formatCents(ourCents), alignRight: true },
  { title: 'THEIRS', cell: ({ theirCents }: Account) => formatCents(theirCents), alignRight: true },
  { title: 'FAILURES', cell: ({ failureCents }: Account) => formatCents(failureCents), alignRight: true },
  { title: 'ELSEWHERE', cell: ({ unattributedCents }: Account) => formatCents(unattributedCents), alignRight: true },
  { title: 'UNBILLED', cell: ({ unbilledCents }: Account) => formatCents(unbilledCents), alignRight: true },
  { title: 'PRICE', cell: ({ priceCents }: Account) => formatCents(priceCents), alignRight: true },
  { title: 'ADJUSTED', cell: ({ adjustmentCents }: Account) => formatCents(adjustmentCents), alignRight: true },
  { title: 'OPEN', cell: ({ openCents }: Account) => formatCents(openCents), alignRight: true },
  { title: 'CHECKED', cell: ({ checkedAt }: Account) => formatMinute(checkedAt) },
] as const;

function printReport(run: Invocation, report: Report): void {
  run.printResult(report, () => run.printTable(ACCOUNT_COLUMNS, report.accounts));
  for (const { name, problem } of report.accounts) if (problem !== null) run.printNote(`${name}: ${problem}`);
  for (const { name, ambiguousCents } of report.accounts)
    if (ambiguousCents > 0)
      run.printNote(
        `${name}: ${formatCents(ambiguousCents)} belong to one of several keys that the provider shows alike. Replace one of them.`,
      );
  for (const { providerSlug, model, pricesFile } of report.drifts)
    run.printNote(`${providerSlug} bills ${model} at another price. PRICES_FILE: ${pricesFile}`);
}

const OPEN_STATES: readonly Account['state'][] = ['drift', 'unbilled', 'ambiguous', 'unattributed', 'unchecked'];
const isOpen = ({ state, problem }: Account): boolean => problem !== null || OPEN_STATES.includes(state);

function registerReport(group: Command, { begin }: ProgramInterface): void {
  group
    .command('ls')
    .description('compare a month with the last reports of the providers')
    .addOption(MONTH_OPTION)
    .action(async ({ month }: { readonly month?: string }) => {
      const run = begin();
      const query = omitUndefined({ month });
      printReport(run, await (await run.getClient()).get('/v1/billing', { params: { query } }));
    });
}

function registerCheck(group: Command, { begin }: ProgramInterface): void {
  group
    .command('check')
    .description('read the reports now; exit code 1 where a difference is open or a report cannot be read')
    .addOption(MONTH_OPTION)
    .action(async ({ month }: { readonly month?: string }) => {
      const run = begin();
      const client = await run.getClient();
      const query = omitUndefined({ month });
      const { accounts } = await client.get('/v1/billing', { params: { query } });
      for (const { id } of accounts)
        await client.post('/v1/billing/accounts/{id}/check', { params: { path: { id } }, body: query });
      const report = await client.get('/v1/billing', { params: { query } });
      printReport(run, report);
      const open = report.accounts.filter(isOpen);
      if (open.length === 0) return;
      const names = open.map(({ name, state }) => `${name} (${state})`).join(', ');
      throw new CliError(EXIT_CODES.failed, `the bill of ${report.month} is open: ${names}`, {
        hint: `acg bill lines ${open[0]!.providerSlug} --by model, or acg bill adjust ${open[0]!.providerSlug}`,
      });
    });
}

function registerAdjust(group: Command, { begin }: ProgramInterface): void {
  group
    .command('adjust')
    .description('accept a difference of a month, with a reason')
    .argument(...ACCOUNT.argument)
    .requiredOption('--month <month>', 'YYYY-MM in UTC', parseMonth)
    .requiredOption('--amount <usd>', 'theirs minus ours, e.g. 12.50 or -3', parseSignedDollars)
    .requiredOption('--reason <text>', 'why it is accepted')
    .action(
      async (
        account: string,
        { month, amount, reason }: Readonly<{ month: string; amount: number; reason: string }>,
      ) => {
        const run = begin();
        const { id: accountId } = await ACCOUNT.find(run, account);
        const body = { accountId, month, amountCents: amount, reason };
        const answer = await (await run.getClient()).post('/v1/billing/adjustments', { body });
        run.printResult(answer, () => run.printSuccess(`${formatCents(amount)} accepted in ${month}`));
      },
    );
}

export const registerBillCommands = commandGroup(
  registerReport,
  registerCheck,
  listCommand({
    name: 'lines',
    description: 'list differences by day, hour, key or model',
    operation: 'GET /v1/billing/accounts/{id}/lines',
    rows: 'lines',
    target: ACCOUNT,
    filters: {
      month: monthField,
      by: choiceField('--by <group>', 'sums; line for none', ['day', 'hour', 'key', 'model', 'line']),
      day: textField('--day <day>', 'only that UTC day'),
      key: textField('--key <key>', 'only that key, as the provider shows it'),
      model: textField('--model <model>', 'only that model'),
      state: choiceField('--state <state>', 'only those', [
        'match',
        'pending',
        'drift',
        'unbilled',
        'ambiguous',
        'unattributed',
      ]),
    },
    columns: [
      { title: 'FROM (UTC)', cell: ({ start }) => formatMinute(start) },
      { title: 'KEY', cell: ({ key, isHeld }) => (key === null ? '–' : `${key}${isHeld ? '' : ' (not held)'}`) },
      { title: 'MODEL', cell: ({ model }) => model ?? '–' },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'CALLS', cell: ({ ourRequests }) => formatCount(ourRequests), alignRight: true },
      {
        title: 'THEIR CALLS',
        cell: ({ theirRequests }) => (theirRequests === null ? '–' : formatCount(theirRequests)),
        alignRight: true,
      },
      { title: 'OURS', cell: ({ ourCents }) => formatCents(ourCents), alignRight: true },
      { title: 'THEIRS', cell: ({ theirCents }) => formatCents(theirCents), alignRight: true },
      { title: 'DIFFERENCE', cell: ({ differenceCents }) => formatCents(differenceCents), alignRight: true },
    ],
  }),
  operationCommand({
    name: 'add',
    description: 'store an admin key; prompts for it without showing it',
    operation: 'POST /v1/billing/accounts',
    fields: {
      api: choiceField('<api>', 'whose reports', ['openai', 'anthropic', 'openrouter']),
      name: defaultField(textField('--name <name>', 'name of the billing account'), 'Billing'),
      providerSlug: textField(
        '--provider <slug>',
        'the custom provider that calls OpenRouter; without it, the built-in one',
      ),
      alertCents: alertField,
    },
    options: KEY_OPTIONS,
    body: async (run, { options }) => ({ adminKey: await readAdminKey(run, options) }) as never,
    print: (run, { account }) => run.printSuccess(`${account.name}  ${account.id}`),
    after: (run) => run.printNote('compare this month now: acg bill check'),
  }),
  operationCommand({
    name: 'set',
    description: 'change the name, the threshold or the admin key',
    operation: 'PATCH /v1/billing/accounts/{id}',
    target: ACCOUNT,
    fields: { name: textField('--name <name>', 'name of the billing account'), alertCents: alertField },
    options: KEY_OPTIONS,
    body: async (run, { options }) => {
      const adminKey = await readSecret(run.terminal, toSecretSource(options));
      return adminKey === null ? {} : { adminKey };
    },
    print: (run, { account }) => run.printSuccess(`${account.name} changed`),
  }),
  registerAdjust,
  operationCommand({
    name: 'rm',
    description: 'delete a billing account with its lines and adjustments',
    operation: 'DELETE /v1/billing/accounts/{id}',
    target: ACCOUNT,
    confirm: ({ text, at }) => `Delete the billing account ${text} ${at} with its lines and adjustments?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} deleted`),
  }),
);
