/** `acg apply` and `acg export`: applies and writes an organization's configuration as a file. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { ChangeApplier } from '../apply/change-applier.js';
import { type CredentialSource, validateDocument } from '../apply/config-document.js';
import { exportDocument } from '../apply/export-document.js';
import { fetchOrgState } from '../apply/org-state.js';
import { type Change, planChanges } from '../apply/plan-changes.js';
import type { Invocation } from '../invocation/invocation.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { CliError, EXIT_CODES, toCliError, usage } from '../terminal/cli-error.js';
import { escapeControlCharacters, escapeControlCharactersInLines } from '../terminal/escape-control-characters.js';
import { requireConfirmation } from '../terminal/prompt.js';
import { readStdin } from '../terminal/secret-input.js';

/** Bounds YAML aliases: a few lines of nested aliases would otherwise exhaust the memory. */
const ALIASES_MAX = 100;
const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;

interface ApplyOptions {
  readonly file: string;
  readonly dryRun?: true;
  readonly check?: true;
  readonly prune?: true;
}

export function registerApplyCommand(command: Command, { begin, setExitCode }: ProgramInterface): void {
  command
    .requiredOption('-f, --file <file>', 'YAML or JSON; - for stdin')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--check', 'like --dry-run; exit 9 where the organization differs from the file')
    .option('--prune', 'also delete what the file does not have')
    .action(async ({ file, dryRun, check, prune }: ApplyOptions) => {
      const run = begin();
      const document = validateDocument(await readDocument(run, file));
      const client = await run.getClient();
      const state = await fetchOrgState(client);
      const changes = planChanges(document, state, prune === true);
      if (!run.isJson) for (const line of changes.flatMap(formatChange)) run.printLine(escapeControlCharacters(line));
      const { listLiteralSecrets, validateChanges } = await import('../apply/validate-changes.js');
      if (changes.length > 0) await validateChanges(client, changes, state);
      const place = `${state.organization.slug} at ${run.settings.url}`;
      run.printNote(changes.length === 0 ? `nothing to change in ${place}` : `${place}: ${summarize(changes)}`);
      for (const secret of listLiteralSecrets(changes, state))
        run.printNote(`${secret} is a secret in the file: name a variable instead ({env: …})`);
      const work = new ChangeApplier(client, state, run.terminal.env);
      const isApplied = dryRun !== true && check !== true && changes.length > 0;
      if (isApplied) {
        work.assertVariablesSet(changes);
        await requireConfirmation(run, `Apply this to ${place}?`);
        await applyChanges(run, work, changes);
      }
      if (!run.isJson) printWebhookSecrets(run, work);
      if (run.isJson)
        run.printResult(
          { changes: changes.map(summarizeChange), applied: isApplied, webhookSecrets: work.webhookSecrets },
          () => {},
        );
      if (isApplied) run.printNote(`${changes.length} ${changes.length === 1 ? 'change' : 'changes'} made`);
      if (check === true && changes.length > 0) setExitCode(EXIT_CODES.different);
    });
}

async function applyChanges(run: Invocation, work: ChangeApplier, changes: readonly Change[]): Promise<void> {
  for (const [at, change] of changes.entries()) {
    try {
      await work.apply(change);
    } catch (error) {
      const { exitCode, message, hint, status, requestId } = toCliError(error);
      printWebhookSecrets(run, work);
      throw new CliError(
        exitCode,
        `${change.type} ${change.name}: ${message}; ${at} of ${changes.length} changes were applied`,
        {
          hint: hint ?? 'correct the file and apply it again: it continues from here',
          status,
          requestId,
        },
      );
    }
  }
}

/** Printed even with --quiet, because the secrets cannot be shown again. */
function printWebhookSecrets(run: Invocation, { webhookSecrets: shownOnce }: ChangeApplier): void {
  for (const { webhook, secret } of shownOnce)
    run.printLine(escapeControlCharacters(`shown once: ${webhook} is signed with ${secret}`));
}

/** `+5 ~1 -1`. */
function summarize(changes: readonly Change[]): string {
  const count = (mark: string): number => changes.filter(({ action }) => MARKS[action] === mark).length;
  return ['+', '~', '-'].map((mark) => `${mark}${count(mark)}`).join(' ');
}

const MARKS = { create: '+', update: '~', status: '~', personalAgents: '~', delete: '-' } as const;

function formatChange(change: Change): readonly string[] {
  const head = `${MARKS[change.action]} ${change.type} ${change.name}`;
  if (change.action === 'update' || change.action === 'status' || change.action === 'personalAgents') {
    const differences = Object.entries(change.fields);
    return [head, ...differences.flatMap(([name, [before, after]]) => formatDifference(name, before, after))];
  }
  if (change.action === 'delete') return [head];
  // Names the variables that leave this machine, so that a file cannot send one unnoticed.
  if (change.type === 'account' || change.type === 'sharedCredential') {
    const { credentials = {} } = change.type === 'account' ? change.account : change.credential;
    const shared = change.type === 'account' ? change.account.sharedCredential : undefined;
    return [
      head,
      ...(shared === undefined ? [] : [`    sharedCredential: ${toJsonText(shared)}`]),
      ...Object.entries(credentials).map(([name, source]) => `    ${name}: ${describeCredentialSource(source)}`),
    ];
  }
  return [head, ...Object.entries(change.fields).map(([name, value]) => `    ${name}: ${toJsonText(value)}`)];
}

/** Of a list of objects, only the rows that differ; of rows in another order, the whole list. */
function formatDifference(name: string, before: unknown, after: unknown): readonly string[] {
  const isRows = (value: unknown): value is readonly object[] =>
    Array.isArray(value) && value.every((row) => typeof row === 'object' && row !== null);
  if (isRows(before) && isRows(after)) {
    const [old, next] = [before.map(toJsonText), after.map(toJsonText)];
    const rows = [
      ...old.filter((row) => !next.includes(row)).map((row) => `- ${row}`),
      ...next.filter((row) => !old.includes(row)).map((row) => `+ ${row}`),
    ];
    if (rows.length > 0)
      return rows.map((row, at) => `    ${at === 0 ? `${name}:` : ' '.repeat(name.length + 1)} ${row}`);
  }
  return [`    ${name}: ${toJsonText(before)} → ${toJsonText(after)}`];
}

const describeCredentialSource = (source: CredentialSource): string =>
  typeof source === 'string' ? 'as in the file' : `$${source.env}`;
const toJsonText = (value: unknown): string => JSON.stringify(value) ?? '–';

/** Omits the credentials of an account. */
const summarizeChange = (change: Change) => ({
  action: change.action === 'status' || change.action === 'personalAgents' ? 'update' : change.action,
  type: change.type,
  name: change.name,
  fields: 'fields' in change ? change.fields : {},
});

async function readDocument(run: Invocation, file: string): Promise<unknown> {
  const source = file === '-' ? await readStdin(run.terminal, DOCUMENT_BYTES_MAX) : readFileSync(file, 'utf8');
  const { parseDocument } = await import('yaml');
  const parsed = parseDocument(source, { prettyErrors: true }); // JSON is a subset of YAML
  const problem = parsed.errors[0];
  const name = file === '-' ? 'standard input' : file;
  if (problem !== undefined) throw usage(`${name}: ${problem.message}`);
  try {
    return parsed.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    throw usage(`${name}: ${(error as Error).message}`);
  }
}

export function registerExportCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .addOption(new Option('--format <format>', 'of the document').choices(['yaml', 'json']).default('yaml'))
    .action(async ({ format }: { readonly format: 'yaml' | 'json' }) => {
      const run = begin();
      const client = await run.getClient();
      const state = await fetchOrgState(client);
      const required = Object.fromEntries(
        state.providers.map(({ slug, credentialFields }) => [
          slug,
          credentialFields.filter((field) => field.required).map(({ name }) => name),
        ]),
      );
      const document = exportDocument(state, required);
      for (const { url } of state.webhooks.filter((row, at, all) => all.findIndex(({ url }) => url === row.url) < at))
        run.printNote(`${url} has several webhooks: apply needs one (acg webhooks rm)`);
      if (run.isJson || format === 'json') run.printJson(document, 2);
      else run.terminal.stdout.write(await formatYaml(document, run.terminal.stdout.isTTY));
    });
}

async function formatYaml(document: object, forTerminal: boolean): Promise<string> {
  const text = (await import('yaml')).stringify(document);
  return forTerminal ? escapeControlCharactersInLines(text) : text;
}
