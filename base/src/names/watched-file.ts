/** A small system file, read at once and read again when it has changed; whoever asks never waits for the disk. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** How often, at most, the file is looked at. */
const LOOK_MS = 1_000;

export class WatchedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  readonly #lookMs: number;
  #value: T;
  #version = '';
  #lookedTick = performance.now();
  #looking = false;

  constructor(path: string, parse: (text: string) => T, lookMs = LOOK_MS) {
    this.#path = path;
    this.#parse = parse;
    this.#lookMs = lookMs;
    this.#value = parse(this.#readNow());
  }

  /** What the file said last; a change shows a moment later. A file that is not there is an empty one. */
  get current(): T {
    if (!this.#looking && performance.now() - this.#lookedTick >= this.#lookMs) void this.#look();
    return this.#value;
  }

  #readNow(): string {
    try {
      this.#version = versionOf(statSync(this.#path));
      return readFileSync(this.#path, 'utf8');
    } catch {
      return '';
    }
  }

  async #look(): Promise<void> {
    this.#looking = true;
    try {
      const version = versionOf(await stat(this.#path));
      if (version !== this.#version) {
        this.#value = this.#parse(await readFile(this.#path, 'utf8'));
        this.#version = version;
      }
    } catch {
      // Files are replaced by renaming: in between, and without one, what was known stands.
    } finally {
      this.#lookedTick = performance.now();
      this.#looking = false;
    }
  }
}

const versionOf = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;
