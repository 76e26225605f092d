import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/** A value that must never be printed: string conversion, JSON and `util.inspect` all return `[redacted]`. */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** Returns the value. Call it only where the secret is used. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
