/**
 * The secrets that a test puts into play: what its calls are given, and what answers hand out. At the end of a test file
 * nothing that the planes have printed may hold one of them, whichever of their lines it was.
 */

/** Members of requests and answers that hold a secret, whatever the call. */
const SECRET_NAMES =
  /^(?:password|currentPassword|newPassword|token|secret|secretKey|secretToken|apiKey|apiToken|serviceKey|secretAccessKey|deviceCode|link|webhookSecret)$/;
/** Of credentials, whose other members are all secret. */
const PUBLIC_NAMES: ReadonlySet<string> = new Set([
  'username',
  'accessKeyId',
  'region',
  'endpoint',
  'projectUrl',
  'url',
]);
/** Shorter ones stand in texts by chance. */
const SECRET_CHARS_MIN = 12;

export class SecretsInPlay {
  /** Secret → where it was seen first. */
  readonly #seen = new Map<string, string>();

  get size(): number {
    return this.#seen.size;
  }

  add(where: string, secret: string): void {
    if (secret.length >= SECRET_CHARS_MIN && !this.#seen.has(secret)) this.#seen.set(secret, where);
  }

  /** What the members of a body say. `all`: every member is a secret, but for names that are none. */
  collect(where: string, body: unknown, all = false): void {
    if (typeof body !== 'object' || body === null) return;
    for (const [name, inner] of Object.entries(body)) {
      if (typeof inner !== 'string') this.collect(where, inner, name === 'credentials');
      else if (!PUBLIC_NAMES.has(name) && (all || SECRET_NAMES.test(name))) {
        this.add(`${where} ${name}`, inner.slice(inner.indexOf('#token=') + 1).replace('token=', ''));
      }
    }
  }

  /** Where those come from that stand in the text as they are. */
  shownBy(text: string): readonly string[] {
    return [...this.#seen].flatMap(([secret, where]) => (text.includes(secret) ? [where] : []));
  }

  /** Where those come from that stand in the text in any form. */
  foundIn(text: string): readonly string[] {
    return [...this.#seen].flatMap(([secret, where]) => (formsOf(secret).some((f) => text.includes(f)) ? [where] : []));
  }

  /** Throws when what was printed holds one. */
  assertNoneIn(printed: string): void {
    const found = this.foundIn(printed);
    if (found.length > 0) throw new Error(`secrets stand in what was logged: ${found.join(', ')}`);
  }
}

/** As it is, without the prefix by which masks know it, and as encodings would show it. */
export const formsOf = (text: string): readonly string[] => [
  text,
  text.replace(new RegExp(`^[a-z]{2,5}_(?=.{${SECRET_CHARS_MIN},})`), ''),
  Buffer.from(text).toString('hex'),
  Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -2),
  encodeURIComponent(text),
  JSON.stringify(text).slice(1, -1),
];
