/** One run of one command: its settings, its connection and its two outputs. Data goes to stdout, all else to stderr. */

import { styleText } from 'node:util';
import type { Client } from '@acg/client/client';
import { Profiles } from '../settings/profiles.js';
import { findProjectFile } from '../settings/project-file.js';
import { type GlobalFlags, resolveSettings, type Settings } from '../settings/settings.js';
import { EXIT, Failure, notLoggedIn } from '../terminal/failure.js';
import { printable, printableJson } from '../terminal/printable.js';
import { type Column, tableLines } from '../terminal/table.js';
import { canAsk, hasColours, type Terminal } from '../terminal/terminal.js';
import { connect } from './connect.js';
import { SavedToken } from './saved-token.js';

/** Of a terminal that does not say it, in columns. */
const WIDTH = 80;
/** Whoever waits for a command waits for this, too. */
const RENEWAL_TIMEOUT_MS = 10_000;

export class Invocation {
  readonly profiles: Profiles;
  readonly colours: boolean;
  #settings: Settings | null = null;
  #client: Promise<Client> | null = null;
  #token: SavedToken | null = null;

  constructor(
    readonly terminal: Terminal,
    readonly flags: GlobalFlags,
  ) {
    this.profiles = new Profiles(terminal, (text) => this.note(text));
    this.colours = hasColours(terminal);
  }

  get json(): boolean {
    return this.flags.json === true;
  }

  /** Questions are allowed: somebody sits there and did not ask for JSON. */
  get interactive(): boolean {
    return !this.json && canAsk(this.terminal);
  }

  get settings(): Settings {
    this.#settings ??= resolveSettings({
      flags: this.flags,
      env: this.terminal.env,
      projectFile: findProjectFile(this.terminal.cwd, this.terminal.uid),
      ...this.profiles.config(),
      sessions: this.profiles.credentials().sessions,
    });
    return this.#settings;
  }

  /** With the session of these settings, in the organization that they name. */
  client(): Promise<Client> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  /** For what needs no session. */
  publicClient(): Client {
    return connect({ url: this.settings.url, token: null });
  }

  /** Of these settings; one that is saved is renewed in time. Null: nobody is logged in. */
  get token(): string | SavedToken | null {
    const { url, token, session, profile } = this.settings;
    if (session === null) return token;
    this.#token ??= new SavedToken(session.token, { profiles: this.profiles, profile, url }, async (before) => {
      const client = connect({ url, token: before, timeoutMs: RENEWAL_TIMEOUT_MS });
      return (await client.post('/v1/auth/refresh')).token;
    });
    return this.#token;
  }

  async #connect(): Promise<Client> {
    const { url, session, org, profile } = this.settings;
    const { token } = this;
    if (token === null) throw notLoggedIn(`not logged in at ${url} (profile ${profile})`);
    const client = connect({ url, token });
    if (org !== null) await demandOrganization(client, org, session);
    return client;
  }

  /** A line of data. */
  out(line: string): void {
    this.terminal.stdout.write(`${line}\n`);
  }

  /** What was done, in a line of data that may hold text of others. */
  done(line: string): void {
    this.out(`✓ ${printable(line)}`);
  }

  /** A line for people, who may not want it. */
  note(line: string): void {
    if (this.flags.quiet !== true) this.terminal.stderr.write(`${printable(line)}\n`);
  }

  /** The body as the API gave it, or what people read of it. */
  show(body: unknown, people: () => void): void {
    if (this.json) this.out(printableJson(body, 2));
    else people();
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
    const { isTTY, columns: width } = this.terminal.stdout;
    const style = { width: isTTY ? (width ?? WIDTH) : null, faint: (text: string) => this.paint('dim', text) };
    for (const line of tableLines(columns, rows, style)) this.out(line);
  }

  /** `name: value` lines. */
  facts(facts: Readonly<Record<string, string | null>>): void {
    const shown = Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== null);
    const width = Math.max(0, ...shown.map(([name]) => name.length));
    const aligned = this.terminal.stdout.isTTY === true;
    for (const [name, value] of shown) {
      this.out(
        aligned ? `${this.paint('dim', name.padEnd(width))}  ${printable(value)}` : `${name}\t${printable(value)}`,
      );
    }
  }

  paint(style: Parameters<typeof styleText>[0], text: string): string {
    return this.colours ? styleText(style, text) : text;
  }
}

/** A session is in one organization: a command meant for another one must not run in this one. */
async function demandOrganization(
  client: Client,
  wanted: string,
  session: { readonly orgId: string; readonly org: string } | null,
): Promise<void> {
  const own = session ?? (await ownOrganization(client));
  if (wanted === own.orgId || wanted === own.org) return;
  throw new Failure(EXIT.usage, `this session is in the organization ${own.org}, not in ${wanted}`, {
    hint: `acg org use ${wanted}`,
  });
}

async function ownOrganization(client: Client): Promise<{ orgId: string; org: string }> {
  const { orgId, orgs } = await client.get('/v1/me');
  return { orgId, org: orgs.find(({ id }) => id === orgId)?.slug ?? orgId };
}
