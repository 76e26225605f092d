/** Resolves the settings of one invocation: flags override the environment, then `.acg.json`, then the profile. */
import { TOKEN_TEXT } from '@acg/client/typed-api-client-throwing-errors';
import { usage } from '../terminal/cli-error.js';
import { PROFILE_NAME, type Profile, type SavedSession } from './profiles-and-saved-tokens.js';
import type { ProjectFile } from './project-file.js';
import { DEFAULT_URL, validateUrl } from './validate-url.js';

export interface GlobalFlags {
  readonly url?: string;
  readonly profile?: string;
  readonly org?: string;
  readonly project?: string;
  readonly insecureHttp?: boolean;
  readonly json?: boolean;
  /** Filters the JSON output, which it implies. */
  readonly jq?: string;
  readonly quiet?: boolean;
  readonly yes?: boolean;
}

interface SettingSources {
  readonly flags: GlobalFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly projectFile: ProjectFile;
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly sessions: Readonly<Record<string, SavedSession>>;
}

export interface Settings {
  readonly profile: string;
  readonly url: string;
  /** Token of a session or a management token; null when there is none for this URL. */
  readonly token: string | null;
  /** Null when the token came from the environment. */
  readonly session: SavedSession | null;
  /** The organization that the user selected; null for that of the session. */
  readonly org: string | null;
  readonly project: string | null;
  readonly agent: string | null;
  readonly gatewayUrl: string | null;
}

export function resolveSettings({ flags, env, projectFile, current, profiles, sessions }: SettingSources): Settings {
  const org = flags.org ?? nonEmpty(env.ACG_ORG) ?? null;
  const named = flags.profile ?? nonEmpty(env.ACG_PROFILE);
  const preferred = named ?? projectFile.profile ?? current;
  const profile = named === undefined && org !== null ? profileOfOrg(org, preferred, sessions) : preferred;
  if (!PROFILE_NAME.test(profile)) throw usage(`${JSON.stringify(profile)} cannot be the name of a profile`);
  const saved = Object.hasOwn(profiles, profile) ? profiles[profile]! : {};
  const insecureHttp = flags.insecureHttp === true || env.ACG_INSECURE_HTTP === '1';
  const address = (text: string, source: string): string => validateUrl(text, source, insecureHttp);
  const url = withoutApiPath(
    address(
      flags.url ?? nonEmpty(env.ACG_URL) ?? saved.url ?? DEFAULT_URL,
      flags.url !== undefined ? '--url' : nonEmpty(env.ACG_URL) !== undefined ? 'ACG_URL' : `profile ${profile}`,
    ),
  );
  const own = Object.hasOwn(sessions, profile) ? sessions[profile]! : null;
  const session = own?.url === url ? own : null;
  const given = nonEmpty(env.ACG_TOKEN?.trim());
  if (given !== undefined && !TOKEN_TEXT.test(given))
    throw usage('ACG_TOKEN has a space, a line break or another character that no token has', 'copy the token again');
  const gatewayUrl = nonEmpty(env.ACG_GATEWAY_URL) ?? saved.gatewayUrl;
  return {
    profile,
    url,
    token: given ?? session?.token ?? null,
    session: given === undefined ? session : null,
    org,
    project: flags.project ?? nonEmpty(env.ACG_PROJECT) ?? projectFile.project ?? saved.project ?? null,
    agent: nonEmpty(env.ACG_AGENT) ?? projectFile.agent ?? null,
    gatewayUrl: gatewayUrl === undefined ? null : address(gatewayUrl, 'ACG_GATEWAY_URL'),
  };
}

/** The profile that is logged in to this organization: the preferred one, else any other; the preferred one if none. */
function profileOfOrg(org: string, preferred: string, sessions: SettingSources['sessions']): string {
  const matches = (session: SavedSession | undefined): boolean => session?.org === org || session?.orgId === org;
  if (Object.hasOwn(sessions, preferred) && matches(sessions[preferred])) return preferred;
  return Object.keys(sessions).find((profile) => matches(sessions[profile])) ?? preferred;
}

/** The start prints `http://…/v1` as the management API; every path of a request begins with /v1 already. */
const withoutApiPath = (url: string): string => url.replace(/\/v1$/, '');

/** An empty variable counts as unset. */
const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
