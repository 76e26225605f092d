/** Searches everything that processes print and clients receive for secrets, also across the border of two chunks. */
export class SecretScanner {
  readonly #secrets: readonly (readonly [name: string, value: string])[];
  readonly #overlap: number;
  readonly #tails = new Map<string, string>();
  readonly #foundSecrets = new Set<string>();
  /** Number of scanned characters. */
  chars = 0;

  /** Name → value. The report may contain a name, never a value. */
  constructor(secrets: Readonly<Record<string, string>>) {
    this.#secrets = Object.entries(secrets).flatMap(([name, value]) => [
      [name, value] as const,
      [`${name} in base64`, Buffer.from(value).toString('base64').replace(/=+$/, '')] as const,
    ]);
    this.#overlap = Math.max(...this.#secrets.map(([, value]) => value.length)) - 1;
  }

  /** `source`: where the chunk comes from, e.g. a process. Chunks of one source follow each other. */
  scan(source: string, piece: string): void {
    const text = (this.#tails.get(source) ?? '') + piece;
    this.#tails.set(source, text.slice(-this.#overlap));
    this.chars += piece.length;
    for (const [name, value] of this.#secrets) if (text.includes(value)) this.#foundSecrets.add(`${name} in ${source}`);
  }

  /** Ends the source: it has no more chunks. */
  endSource(source: string): void {
    this.#tails.delete(source);
  }

  get leaks(): string[] {
    return [...this.#foundSecrets];
  }
}
