/** `acg apply` and `acg export`: an organization's configuration as a file. */
import { readFileSync } from 'node:fs';
import { everyRow } from '@acg/client/every-row';
import { type Command, Option } from 'commander';
import { collected } from '../api/lookup.js';
import { asDocument } from '../apply/as-document.js';
import { CarryOut } from '../apply/carry-out.js';
import { type CredentialSource, checkedDocument } from '../apply/document.js';
import { type Change, planChanges } from '../apply/plan.js';
import { readState } from '../apply/state.js';
import type { Invocation } from '../invocation/invocation.js';
import { confirmed } from '../terminal/ask.js';
import { EXIT, Failure, failureOf, usage } from '../terminal/failure.js';
import { printable, printableJson, printableLines } from '../terminal/printable.js';
import { readStdin } from '../terminal/secret-input.js';
import type { Tree } from './tree.js';

/** A few lines of aliases of aliases would otherwise fill the memory. */
const ALIASES_MAX = 100;
const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;

interface ApplyOptions {
  readonly file: string;
  readonly dryRun?: true;
  readonly prune?: true;
}

export function applyCommand(command: Command, { begin }: Tree): void {
  command
    .requiredOption('-f, --file <file>', 'YAML or JSON; - for stdin')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--prune', 'also delete what the file does not have')
    .action(async ({ file, dryRun, prune }: ApplyOptions) => {
      const run = begin();
      const document = checkedDocument(await readDocument(run, file));
      const client = await run.client();
      const state = await readState(client);
      const changes = planChanges(document, state, prune === true);
      if (!run.json) for (const line of changes.flatMap(changeLines)) run.out(printable(line));
      if (changes.length === 0) run.note('nothing to change');
      const work = new CarryOut(client, state, run.terminal.env);
      const isApplied = dryRun !== true && changes.length > 0;
      if (isApplied) {
        work.demandVariables(changes);
        await confirmed(run, `Make ${changes.length} changes at ${run.settings.url}?`);
        await carryOut(run, work, changes);
      }
      if (!run.json) showSecrets(run, work);
      if (run.json)
        run.show({ changes: changes.map(summary), applied: isApplied, webhookSecrets: work.shownOnce }, () => {});
      if (isApplied) run.note(`${changes.length} changes made`);
    });
}

async function carryOut(run: Invocation, work: CarryOut, changes: readonly Change[]): Promise<void> {
  for (const [at, change] of changes.entries()) {
    try {
      await work.run(change);
    } catch (error) {
      const { exitCode, message, hint, status, requestId } = failureOf(error);
      showSecrets(run, work);
      throw new Failure(
        exitCode,
        `${change.type} ${change.name}: ${message}; ${at} of ${changes.length} changes are made`,
        {
          hint: hint ?? 'mend it, and apply again: it goes on from here',
          status,
          requestId,
        },
      );
    }
  }
}

/** Not remarks: nobody shows them again. */
function showSecrets(run: Invocation, { shownOnce }: CarryOut): void {
  for (const { webhook, secret } of shownOnce) run.out(printable(`shown once: ${webhook} is signed with ${secret}`));
}

const MARKS = { create: '+', update: '~', status: '~', delete: '-' } as const;

function changeLines(change: Change): readonly string[] {
  const head = `${MARKS[change.action]} ${change.type} ${change.name}`;
  if (change.action === 'update' || change.action === 'status') {
    const differences = Object.entries(change.fields);
    return [head, ...differences.map(([name, [before, after]]) => `    ${name}: ${text(before)} → ${text(after)}`)];
  }
  if (change.action === 'delete') return [head];
  // Which variables leave this machine, so that nobody's file can take one unseen.
  if (change.type === 'account')
    return [
      head,
      ...Object.entries(change.account.credentials ?? {}).map(([name, source]) => `    ${name}: ${origin(source)}`),
    ];
  return [head, ...Object.entries(change.fields).map(([name, value]) => `    ${name}: ${text(value)}`)];
}

const origin = (source: CredentialSource): string => (typeof source === 'string' ? 'as in the file' : `$${source.env}`);
const text = (value: unknown): string => JSON.stringify(value) ?? '–';

/** Without what an account's credentials are. */
const summary = (change: Change) => ({
  action: change.action === 'status' ? 'update' : change.action,
  type: change.type,
  name: change.name,
  fields: 'fields' in change ? change.fields : {},
});

async function readDocument(run: Invocation, file: string): Promise<unknown> {
  const source = file === '-' ? await readStdin(run.terminal, DOCUMENT_BYTES_MAX) : readText(file);
  const { parseDocument } = await import('yaml');
  const parsed = parseDocument(source, { prettyErrors: true }); // JSON is YAML
  const problem = parsed.errors[0];
  if (problem !== undefined) throw usage(`${file}: ${problem.message}`);
  try {
    return parsed.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    throw usage(`${file}: ${(error as Error).message}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(EXIT.usage, `${file}: ${(error as Error).message}`);
  }
}

export function exportCommand(command: Command, { begin }: Tree): void {
  command
    .addOption(new Option('--format <format>', 'of the document').choices(['yaml', 'json']).default('yaml'))
    .action(async ({ format }: { readonly format: 'yaml' | 'json' }) => {
      const run = begin();
      const client = await run.client();
      const state = await readState(client);
      const providers = await collected(
        everyRow(
          (query) => client.get('/v1/custom-providers', { params: { query } }),
          (page) => page.providers,
        ),
      );
      const required = Object.fromEntries(
        providers.map(({ slug, credentialFields }) => [
          slug,
          credentialFields.filter((field) => field.required).map(({ name }) => name),
        ]),
      );
      const document = asDocument(state, required);
      if (run.json || format === 'json') run.out(printableJson(document, 2));
      else run.terminal.stdout.write(await asYaml(document, run.terminal.stdout.isTTY));
    });
}

async function asYaml(document: object, forTerminal: boolean): Promise<string> {
  const text = (await import('yaml')).stringify(document);
  return forTerminal ? printableLines(text) : text;
}
