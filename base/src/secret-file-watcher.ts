/**
 * Calls back when one of the files that hold secrets or certificates changes, also when a directory of mounted secrets
 * is replaced as Kubernetes does it. A file that is missing for a moment is no change; the next look finds the new one.
 */
import { statSync } from 'node:fs';

const LOOK_INTERVAL_MS = 2_000;

export class SecretFileWatcher {
  readonly #files: readonly string[];
  readonly #onChange: () => void;
  #version: string;
  #timer: NodeJS.Timeout | null = null;

  constructor(files: readonly string[], onChange: () => void) {
    this.#files = files;
    this.#onChange = onChange;
    this.#version = this.#readVersion() ?? '';
  }

  /** Looks every two seconds until {@link stop}. */
  start(): void {
    if (this.#files.length > 0) this.#timer = setInterval(() => this.look(), LOOK_INTERVAL_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  look(): void {
    const version = this.#readVersion();
    if (version === null || version === this.#version) return;
    this.#version = version;
    this.#onChange();
  }

  #readVersion(): string | null {
    try {
      return this.#files
        .map((file) => {
          const { ino, size, mtimeMs, ctimeMs } = statSync(file);
          return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
        })
        .join('\n');
    } catch {
      return null;
    }
  }
}
