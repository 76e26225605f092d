/** A small system file, read at construction and again after it changes. Readers never wait for the disk. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Minimum interval between checks of the file, ms. */
const CHECK_INTERVAL_MS = 1_000;

export class WatchedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  readonly #checkIntervalMs: number;
  #value: T;
  #version = '';
  #checkedAtPerfMs = performance.now();
  #isChecking = false;

  constructor(path: string, parse: (text: string) => T, checkIntervalMs = CHECK_INTERVAL_MS) {
    this.#path = path;
    this.#parse = parse;
    this.#checkIntervalMs = checkIntervalMs;
    this.#value = parse(this.#readSync());
  }

  /** The parsed content as last read; a change shows after the next check. A missing file counts as empty. */
  get current(): T {
    if (!this.#isChecking && performance.now() - this.#checkedAtPerfMs >= this.#checkIntervalMs)
      void this.#reloadIfChanged();
    return this.#value;
  }

  #readSync(): string {
    try {
      this.#version = fileVersion(statSync(this.#path));
      return readFileSync(this.#path, 'utf8');
    } catch {
      return '';
    }
  }

  async #reloadIfChanged(): Promise<void> {
    this.#isChecking = true;
    try {
      const version = fileVersion(await stat(this.#path));
      if (version !== this.#version) {
        this.#value = this.#parse(await readFile(this.#path, 'utf8'));
        this.#version = version;
      }
    } catch {
      // Files are replaced by rename. Between delete and rename, and when the file is missing, the last content stays
      // in use.
    } finally {
      this.#checkedAtPerfMs = performance.now();
      this.#isChecking = false;
    }
  }
}

const fileVersion = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;
