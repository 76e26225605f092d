/**
 * Reads environment variables into typed configuration. It collects every problem, so that one start attempt names
 * every invalid variable (docs/configuration.md#configuration).
 */

import { readFileSync } from 'node:fs';
import { findInvalidCidr } from './egress/cidr-list.js';
import { Secret } from './secret.js';

/** Invalid configuration. `message` is one line that names each invalid variable and what its value should be. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'ConfigError';
  }
}

interface IntRule {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

/** Each names a file with the value of the variable without `_FILE`. */
const FILE_VARIABLES: ReadonlySet<string> = new Set([
  'AWS_SECRET_ACCESS_KEY_FILE',
  'AWS_SESSION_TOKEN_FILE',
  'DATABASE_URL_FILE',
  'DATAPLANE_TOKEN_FILE',
  'INTERNAL_TOKEN_FILE',
  'JWT_SECRET_FILE',
  'MASTER_KEYS_FILE',
  'OTEL_EXPORTER_OTLP_HEADERS_FILE',
  'REDIS_URL_FILE',
  'SMTP_URL_FILE',
  'VAULT_TOKEN_FILE',
]);

const SECRET_BYTES_MIN = 32;
const isLongEnough = (text: string): boolean => Buffer.byteLength(text) >= SECRET_BYTES_MIN;
const INTEGER = /^-?\d{1,16}$/;
const DECIMAL = /^\d{1,9}(?:\.\d{1,9})?$/;

export class EnvReader {
  readonly #env: NodeJS.ProcessEnv;
  readonly #problems: string[] = [];
  readonly #warnings: string[] = [];
  readonly #files = new Set<string>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Records a problem that the caller found, e.g. a rule that spans two variables. */
  addProblem(text: string): void {
    this.#problems.push(text);
  }

  /** Warnings for the log of the process, one line each. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Adds a line for the log of the process: the value works, and probably not as meant. */
  warn(text: string): void {
    this.#warnings.push(text);
  }

  /** Declares variables that this release still reads and the next one ignores. Adds a warning for each one that is set. */
  deprecate(names: readonly string[]): void {
    for (const name of names) {
      if (this.optional(name) === null) continue;
      this.#warnings.push(
        `${name} is deprecated and will be ignored from the next release on: remove it (docs/configuration.md#deprecated-variables)`,
      );
    }
  }

  /** Files that held values: those of `*_FILE` variables, and those that callers read with {@link file}. */
  get files(): readonly string[] {
    return [...this.#files];
  }

  /**
   * The variable's value; an empty string counts as unset, as shells and compose files leave it. A secret may be in the
   * file that `{name}_FILE` names instead; a line break at its end is not part of it.
   */
  optional(name: string): string | null {
    const value = this.#unlessEmpty(name);
    const path = FILE_VARIABLES.has(`${name}_FILE`) ? this.#unlessEmpty(`${name}_FILE`) : null;
    if (path === null) return value;
    if (value !== null) this.addProblem(`${name} and ${name}_FILE are both set: set one of them`);
    return (
      this.file(`${name}_FILE`, path)
        ?.toString()
        .replace(/\r?\n$/, '') ?? null
    );
  }

  /** Reads a file that `name` names; a problem is recorded and null returned if it cannot be read. */
  file(name: string, path: string): Buffer | null {
    this.#files.add(path);
    try {
      return readFileSync(path);
    } catch (error) {
      this.addProblem(`${name}: ${(error as Error).message}`);
      return null;
    }
  }

  #unlessEmpty(name: string): string | null {
    const value = this.#env[name];
    return value === undefined || value === '' ? null : value;
  }

  string(name: string, fallback: string): string {
    return this.optional(name) ?? fallback;
  }

  /** `hint` says what to set, e.g. `a postgres:// URL`. */
  required(name: string, hint: string): string {
    const value = this.optional(name);
    if (value === null) this.addProblem(`${name} is not set: it must be ${hint}`);
    return value ?? '';
  }

  /**
   * A secret of at least 32 bytes, or two during a rotation: `new,old`. A comma separates only where both parts are
   * long enough, so a single secret may contain a comma. Returns no secret when the variable is unset or too short.
   */
  secrets(name: string): readonly Secret[] {
    const raw = this.optional(name);
    if (raw === null) return [];
    const parts = raw.split(',').map((part) => part.trim());
    const values = parts.length === 2 && parts.every(isLongEnough) ? parts : [raw];
    if (!values.every(isLongEnough)) this.addProblem(`${name} must have at least ${SECRET_BYTES_MIN} bytes`);
    return values.map((value) => new Secret(value));
  }

  int(name: string, rule: IntRule): number {
    const raw = this.optional(name);
    if (raw === null) return rule.fallback;
    const value = Number(raw);
    if (INTEGER.test(raw) && value >= rule.min && value <= rule.max) return value;
    this.addProblem(`${name} must be a whole number from ${rule.min} to ${rule.max}, not ${quote(raw)}`);
    return rule.fallback;
  }

  ratio(name: string, fallback: number): number {
    const raw = this.optional(name);
    if (raw === null) return fallback;
    const value = Number(raw);
    if (DECIMAL.test(raw) && value > 0 && value <= 1) return value;
    this.addProblem(`${name} must be a number above 0 and at most 1, not ${quote(raw)}`);
    return fallback;
  }

  intList(name: string, fallback: readonly number[], rule: { min: number; max: number }): readonly number[] {
    const raw = this.optional(name);
    if (raw === null) return fallback;
    const values = raw.split(',').map((part) => part.trim());
    const good = values.every((v) => INTEGER.test(v) && Number(v) >= rule.min && Number(v) <= rule.max);
    if (good) return values.map(Number);
    this.addProblem(
      `${name} must be whole numbers from ${rule.min} to ${rule.max}, comma separated, not ${quote(raw)}`,
    );
    return fallback;
  }

  list(name: string, fallback: readonly string[]): readonly string[] {
    const raw = this.optional(name);
    if (raw === null) return fallback;
    return raw
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }

  /** A listen address, `host:port`. */
  listenAddress(name: string, fallback: string): string {
    const raw = this.optional(name);
    if (raw === null) return fallback;
    const port = /^\S+:(\d{1,5})$/.exec(raw)?.[1];
    if (port !== undefined && Number(port) <= 65_535) return raw;
    this.addProblem(`${name} must be host:port, not ${quote(raw)}`);
    return fallback;
  }

  /** Comma-separated CIDR ranges. */
  cidrs(name: string): readonly string[] {
    const cidrs = this.list(name, []);
    const bad = findInvalidCidr(cidrs);
    if (bad !== null) this.addProblem(`${name} must be CIDR ranges such as 10.0.0.0/8, comma separated, not ${bad}`);
    return cidrs;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const raw = this.optional(name);
    if (raw === null) return fallback;
    if ((allowed as readonly string[]).includes(raw)) return raw as T;
    this.addProblem(`${name} must be one of ${allowed.join(', ')}, not ${quote(raw)}`);
    return fallback;
  }

  /** A URL with one of the schemes. The problem text never contains the value, because it may contain a password. */
  optionalUrl(name: string, schemes: readonly string[]): URL | null {
    const raw = this.optional(name);
    if (raw === null) return null;
    const url = URL.canParse(raw) ? new URL(raw) : null;
    if (url !== null && schemes.includes(url.protocol.slice(0, -1))) return url;
    this.addProblem(`${name} must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}`);
    return null;
  }

  /** Throws one {@link ConfigError} with all recorded problems. */
  throwIfInvalid(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }
}

const quote = (raw: string): string => JSON.stringify(raw.length > 40 ? `${raw.slice(0, 40)}…` : raw);
