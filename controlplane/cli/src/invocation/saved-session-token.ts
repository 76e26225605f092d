/**
 * The token of a saved session, for the duration of a command. It is valid for some days and renewed after half of them, so
 * a user who works every week stays logged in. Renewal retires the previous token, and reuse of a retired token ends the
 * session. So a long-running command (`logs -f`) reads the file again before each call.
 */

import { decodeTokenLifetime } from '../settings/decode-token-lifetime.js';
import type { ProfilesAndSavedTokens } from '../settings/profiles-and-saved-tokens.js';

/** Delay in ms after a failed renewal; the current token stays valid until it expires. */
const RETRY_MS = 60_000;

interface TokenLocation {
  readonly profiles: ProfilesAndSavedTokens;
  readonly profile: string;
  readonly url: string;
}

export class SavedSessionToken {
  #token: string;
  #renewal: Promise<void> | null = null;
  #retryAtMs = 0;
  /** Previous tokens, all retired. After a failed write the file still contains one of them. */
  readonly #retired = new Set<string>();

  constructor(
    token: string,
    readonly location: TokenLocation,
    /** Requests the next token from the gateway. */
    readonly renew: (token: string) => Promise<string>,
  ) {
    this.#token = token;
  }

  /** Returns the token for the next call. */
  async getToken(): Promise<string> {
    this.reloadIfReplaced();
    const life = decodeTokenLifetime(this.#token);
    const due = life !== null && Date.now() > (life.issuedAtMs + life.expiresAtMs) / 2 && Date.now() >= this.#retryAtMs;
    if (due) {
      this.#renewal ??= this.#renewOnce().finally(() => {
        this.#renewal = null;
      });
      await this.#renewal;
    }
    return this.#token;
  }

  /** Reads the file again. Returns true when it contains another token, which `getToken` returns from now on. */
  reloadIfReplaced(): boolean {
    const { profiles, profile, url } = this.location;
    const saved = profiles.readCredentials().sessions[profile];
    if (saved === undefined || saved.url !== url || saved.token === this.#token) return false;
    if (this.#retired.has(saved.token)) return false;
    this.#setToken(saved.token);
    return true;
  }

  async #renewOnce(): Promise<void> {
    const before = this.#token;
    if (this.reloadIfReplaced()) return;
    this.#retryAtMs = Date.now() + RETRY_MS;
    try {
      this.#setToken(await this.renew(before));
    } catch {
      return; // the call itself reports an ended session
    }
    const { profiles, profile } = this.location;
    profiles.replaceSessionToken(profile, before, this.#token);
  }
  #setToken(token: string): void {
    this.#retired.add(this.#token);
    this.#token = token;
  }
}
