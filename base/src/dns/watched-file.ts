/** A small system file, read at once and read again when it has changed; whoever asks never waits for the disk. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** How often, at most, the file is looked at. */
const CHECK_INTERVAL_MS = 1_000;

export class WatchedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  readonly #checkIntervalMs: number;
  #value: T;
  #version = '';
  #checkedAtPerfMs = performance.now();
  #isChecking = false;

  constructor(path: string, parse: (text: string) => T, lookMs = CHECK_INTERVAL_MS) {
    this.#path = path;
    this.#parse = parse;
    this.#checkIntervalMs = lookMs;
    this.#value = parse(this.#readSync());
  }

  /** What the file said last; a change shows a moment later. A file that is not there is an empty one. */
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
      // Files are replaced by renaming: in between, and without one, what was known stands.
    } finally {
      this.#checkedAtPerfMs = performance.now();
      this.#isChecking = false;
    }
  }
}

const fileVersion = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;
