/**
 * What is remembered between commands, in two files of the user's own directory:
 *
 *   config.json        which profile is the current one, and each profile's address and project: no secrets
 *   credentials.json   each profile's session and the gateway tokens saved for its agents: mode 0600
 */
import { join } from 'node:path';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { readJsonFile, restrictToOwner, withFileLock, writePrivateFile } from './private-file.js';

export interface Profile {
  readonly url?: string;
  /** Slug, name or id. */
  readonly project?: string;
  /** URL for agents' calls, if the gateway does not publish it. */
  readonly gatewayUrl?: string;
}

interface Config {
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Bound to one URL: a token is never sent to another one. */
export interface SavedSession {
  readonly url: string;
  readonly token: string;
  readonly orgId: string;
  /** Slug of the organization. */
  readonly org: string;
}

interface SavedGatewayToken {
  readonly token: string;
  readonly keyId: string;
}

interface Credentials {
  readonly sessions: Readonly<Record<string, SavedSession>>;
  /** By profile, then by agent id. */
  readonly gatewayTokens: Readonly<Record<string, Readonly<Record<string, SavedGatewayToken>>>>;
}

interface ConfigLocation {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

const DEFAULT_PROFILE = 'default';
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export class ProfilesAndSavedTokens {
  readonly configPath: string;
  readonly credentialsPath: string;
  readonly #platform: NodeJS.Platform;
  readonly #warn: (text: string) => void;

  constructor({ env, platform, home }: ConfigLocation, warn: (text: string) => void) {
    const base = env.XDG_CONFIG_HOME || (platform === 'win32' && env.APPDATA ? env.APPDATA : join(home, '.config'));
    this.configPath = join(base, 'acg', 'config.json');
    this.credentialsPath = join(base, 'acg', 'credentials.json');
    this.#platform = platform;
    this.#warn = warn;
  }

  readConfig(): Config {
    const { current = DEFAULT_PROFILE, profiles = {} } = asObject(
      readJsonFile(this.configPath),
      this.configPath,
    ) as Partial<Config>;
    return { current, profiles };
  }

  readCredentials(): Credentials {
    if (restrictToOwner(this.credentialsPath, this.#platform)) {
      this.#warn(
        `${this.credentialsPath} was readable by other users: its mode is 0600 again; run acg logout if that matters`,
      );
    }
    const saved = asObject(readJsonFile(this.credentialsPath), this.credentialsPath) as Partial<Credentials>;
    return { sessions: saved.sessions ?? {}, gatewayTokens: saved.gatewayTokens ?? {} };
  }

  setCurrent(name: string): void {
    this.#updateConfig((config) => ({ ...config, current: name }));
  }

  saveProfile(name: string, changes: Profile): void {
    this.#updateConfig(({ current, profiles }) => ({
      current,
      profiles: { ...profiles, [name]: { ...profiles[name], ...changes } },
    }));
  }

  /** Null removes the session and the gateway tokens of the profile. */
  saveSession(name: string, session: SavedSession | null): void {
    const others = <T>(all: Readonly<Record<string, T>>) =>
      Object.fromEntries(Object.entries(all).filter(([profile]) => profile !== name));
    this.#updateCredentials(({ sessions, gatewayTokens }) =>
      session === null
        ? { sessions: others(sessions), gatewayTokens: others(gatewayTokens) }
        : { sessions: { ...sessions, [name]: session }, gatewayTokens },
    );
  }

  /** Stores the renewed token of the same session. Does nothing when the session was removed or replaced meanwhile. */
  replaceSessionToken(name: string, before: string, token: string): void {
    this.#updateCredentials(({ sessions, gatewayTokens }) => {
      const own = sessions[name];
      if (own?.token !== before) return { sessions, gatewayTokens };
      return { sessions: { ...sessions, [name]: { ...own, token } }, gatewayTokens };
    });
  }

  /** Removes the profile with its session and gateway tokens. The current one is then the default. */
  deleteProfile(name: string): void {
    this.saveSession(name, null);
    this.#updateConfig(({ current, profiles }) => ({
      current: current === name ? DEFAULT_PROFILE : current,
      profiles: Object.fromEntries(Object.entries(profiles).filter(([profile]) => profile !== name)),
    }));
  }

  /** Removes the saved gateway token with that id, which has ended, from all profiles. */
  forgetGatewayToken(keyId: string): void {
    const { gatewayTokens: saved } = this.readCredentials();
    if (!Object.values(saved).some((agents) => Object.values(agents).some((token) => token.keyId === keyId))) return;
    this.#updateCredentials(({ sessions, gatewayTokens }) => ({
      sessions,
      gatewayTokens: Object.fromEntries(
        Object.entries(gatewayTokens).map(([profile, agents]) => [
          profile,
          Object.fromEntries(Object.entries(agents).filter(([, token]) => token.keyId !== keyId)),
        ]),
      ),
    }));
  }

  saveGatewayToken(profile: string, agentId: string, saved: SavedGatewayToken): void {
    this.#updateCredentials(({ sessions, gatewayTokens }) => {
      const own = { ...gatewayTokens[profile], [agentId]: saved };
      return { sessions, gatewayTokens: { ...gatewayTokens, [profile]: own } };
    });
  }

  #updateConfig(change: (config: Config) => Config): void {
    withFileLock(this.configPath, () => writePrivateFile(this.configPath, change(this.readConfig())));
  }

  #updateCredentials(change: (credentials: Credentials) => Credentials): void {
    withFileLock(this.credentialsPath, () => writePrivateFile(this.credentialsPath, change(this.readCredentials())));
  }
}

function asObject(value: unknown, path: string): Record<string, unknown> {
  if (value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new CliError(EXIT_CODES.failed, `${path} must hold a JSON object`, { hint: 'correct or delete it' });
}
