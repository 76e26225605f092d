/**
 * One run of one command: its settings, its connection and its two outputs. Data goes to stdout, everything else to
 * stderr.
 */

import { styleText } from 'node:util';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { ProfilesAndSavedTokens } from '../settings/profiles-and-saved-tokens.js';
import { findProjectFile } from '../settings/project-file.js';
import { type GlobalFlags, resolveSettings, type Settings } from '../settings/resolve-settings.js';
import { CliError, EXIT_CODES, notLoggedInError } from '../terminal/cli-error.js';
import { escapeControlCharacters, toJsonWithoutControlCharacters } from '../terminal/escape-control-characters.js';
import type { JqFilter } from '../terminal/jq-filter.js';
import { type Column, formatTable } from '../terminal/table.js';
import { hasColors, isInteractiveTerminal, type Terminal } from '../terminal/terminal.js';
import { createApiClient } from './api-client-with-timeout-and-retry.js';
import { SavedSessionToken } from './saved-session-token.js';

/** Used when the terminal does not report its width, or reports 0, in columns. */
const DEFAULT_WIDTH_COLUMNS = 80;
/** Time limit in ms: the user waits for it. */
const RENEWAL_TIMEOUT_MS = 10_000;

interface Check {
  readonly ok: boolean | null;
  readonly name: string;
  readonly detail: string;
  readonly fix: string | null;
}

export class Invocation {
  readonly profiles: ProfilesAndSavedTokens;
  readonly hasColors: boolean;
  #settings: Settings | null = null;
  #client: Promise<Client> | null = null;
  #token: SavedSessionToken | null = null;

  constructor(
    readonly terminal: Terminal,
    readonly flags: GlobalFlags,
    /** Of `--jq`; null without it. */
    readonly jqFilter: JqFilter | null = null,
  ) {
    this.profiles = new ProfilesAndSavedTokens(terminal, (text) => this.printNote(text));
    this.hasColors = hasColors(terminal);
  }

  get isJson(): boolean {
    return this.flags.json === true || this.jqFilter !== null;
  }

  /** Prompts are allowed: stdin and stderr are a terminal and the user did not ask for JSON. */
  get isInteractive(): boolean {
    return !this.isJson && isInteractiveTerminal(this.terminal);
  }

  get settings(): Settings {
    this.#settings ??= resolveSettings({
      flags: this.flags,
      env: this.terminal.env,
      projectFile: findProjectFile(this.terminal.cwd, this.terminal.uid),
      ...this.profiles.readConfig(),
      sessions: this.profiles.readCredentials().sessions,
    });
    return this.#settings;
  }

  /** Returns a client with the session of these settings, in the selected organization. */
  getClient(): Promise<Client> {
    this.#client ??= this.#createClient();
    return this.#client;
  }

  /** Returns a client for calls without a session. */
  createPublicClient(): Client {
    return createApiClient({ url: this.settings.url, token: null });
  }

  /** The token of these settings; a saved one is renewed in time. Null when not logged in. */
  get token(): string | SavedSessionToken | null {
    const { url, token, session, profile } = this.settings;
    if (session === null) return token;
    this.#token ??= new SavedSessionToken(session.token, { profiles: this.profiles, profile, url }, async (before) => {
      const client = createApiClient({ url, token: before, timeoutMs: RENEWAL_TIMEOUT_MS });
      return (await client.post('/v1/auth/refresh')).token;
    });
    return this.#token;
  }

  async #createClient(): Promise<Client> {
    const { url, session, org, profile } = this.settings;
    const { token } = this;
    if (token === null) throw notLoggedInError(`not logged in at ${url} (profile ${profile})`);
    const client = createApiClient({ url, token });
    if (org !== null) await assertOrganization(client, org, session);
    return client;
  }

  /** Prints a line of data. */
  printLine(line: string): void {
    this.terminal.stdout.write(`${line}\n`);
  }

  /** Prints the result of a change. Escapes control characters, because the line may contain text of other users. */
  printSuccess(line: string): void {
    this.printLine(`✓ ${escapeControlCharacters(line)}`);
  }

  /** Prints what a check found, and what to do. `ok` null: not checked. Escapes control characters. */
  printCheck({ ok, name, detail, fix }: Check): void {
    const mark = ok === null ? '–' : ok ? this.applyStyle('green', '✓') : this.applyStyle('red', '✗');
    this.printLine(`${mark} ${escapeControlCharacters(`${name}: ${detail}`)}`);
    if (fix !== null) this.printLine(`  → ${escapeControlCharacters(fix)}`);
  }

  /** Prints a line for users; --quiet suppresses it. */
  printNote(line: string): void {
    if (this.flags.quiet !== true) this.terminal.stderr.write(`${escapeControlCharacters(line)}\n`);
  }

  /** Prints the response body with --json, else calls `people` to print it for users. */
  printResult(body: unknown, people: () => void): void {
    if (this.isJson) this.printJson(body, 2);
    else people();
  }

  /** Prints JSON, through the filter of `--jq` if there is one. `indent` in spaces; without it, one line. */
  printJson(value: unknown, indent?: number): void {
    const lines = this.jqFilter?.(value) ?? [toJsonWithoutControlCharacters(value, indent)];
    for (const line of lines) this.printLine(line);
  }

  printTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
    const { isTTY, columns: width } = this.terminal.stdout;
    const style = {
      width: isTTY ? width || DEFAULT_WIDTH_COLUMNS : null,
      faint: (text: string) => this.applyStyle('dim', text),
    };
    const { lines, leftOut } = formatTable(columns, rows, style);
    for (const line of lines) this.printLine(line);
    this.printNoneOnTerminal(rows.length);
    if (leftOut.length > 0)
      this.printNote(`not shown in ${style.width} columns: ${leftOut.join(', ')} (--json has all)`);
  }

  /** A list without rows prints nothing in a pipe; on a terminal that would look like a failure. */
  printNoneOnTerminal(rows: number): void {
    if (rows === 0 && this.terminal.stdout.isTTY) this.printNote('none');
  }

  /** Prints `name: value` lines. */
  printFields(facts: Readonly<Record<string, string | null>>): void {
    const shown = Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== null);
    const width = Math.max(0, ...shown.map(([name]) => name.length));
    const aligned = this.terminal.stdout.isTTY === true;
    for (const [name, value] of shown) {
      this.printLine(
        aligned
          ? `${this.applyStyle('dim', name.padEnd(width))}  ${escapeControlCharacters(value)}`
          : `${name}\t${escapeControlCharacters(value)}`,
      );
    }
  }

  /** Prints all fields of an object of the API that have a value. */
  printRecord(record: object): void {
    const texts = Object.entries(record).map(([name, value]: [string, unknown]) => [
      name,
      value === null ? null : typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]);
    this.printFields(Object.fromEntries(texts));
  }

  applyStyle(style: Parameters<typeof styleText>[0], text: string): string {
    return this.hasColors ? styleText(style, text) : text;
  }
}

/** A session acts in one organization. A command for another organization must not run in this one. */
async function assertOrganization(
  client: Client,
  wanted: string,
  session: { readonly orgId: string; readonly org: string } | null,
): Promise<void> {
  const own = session ?? (await fetchOwnOrganization(client));
  if (wanted === own.orgId || wanted === own.org) return;
  throw new CliError(EXIT_CODES.usage, `this session is in the organization ${own.org}, not in ${wanted}`, {
    hint: `acg org use ${wanted}, or acg login --profile ${wanted} for a login of its own`,
  });
}

async function fetchOwnOrganization(client: Client): Promise<{ orgId: string; org: string }> {
  const { orgId, orgs } = await client.get('/v1/me');
  return { orgId, org: orgs.find(({ id }) => id === orgId)?.slug ?? orgId };
}
