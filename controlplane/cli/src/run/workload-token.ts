/** Finds the token with which a workload's own platform identifies it. Read again for each exchange; never stored. */
import { readFileSync } from 'node:fs';
import { TOKEN_TEXT } from '@acg/client/typed-api-client-throwing-errors';
import { CliError, EXIT_CODES, usage } from '../terminal/cli-error.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface WorkloadTokenSource {
  /** For messages, e.g. `GitHub Actions`. */
  readonly name: string;
  read(): Promise<string>;
}

const TIMEOUT_MS = 15_000;
const TOKEN_BYTES_MAX = 65_536;
/** Where the recipes of docs/workload-identity.md mount a projected token. */
const KUBERNETES_FILE = '/var/run/secrets/agent-gateway/token';

/**
 * In this order: the given file, GitHub Actions, `ACG_ID_TOKEN` (GitLab `id_tokens`), `ACG_ID_TOKEN_FILE` (SPIFFE and
 * others), and the projected token of a Kubernetes pod.
 */
export function findWorkloadToken(
  env: Environment,
  tokenFile: string | undefined,
  audience: string,
): WorkloadTokenSource {
  if (tokenFile !== undefined) return fileSource(tokenFile, tokenFile);
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = env;
  if (url !== undefined && bearer !== undefined)
    return { name: 'GitHub Actions', read: () => requestGitHubToken(url, bearer, audience) };
  const { ACG_ID_TOKEN: token, ACG_ID_TOKEN_FILE: file } = env;
  if (token !== undefined && token !== '') return { name: 'ACG_ID_TOKEN', read: async () => token };
  if (file !== undefined && file !== '') return fileSource(file, 'ACG_ID_TOKEN_FILE');
  const projected = fileSource(KUBERNETES_FILE, KUBERNETES_FILE);
  if (isReadable(KUBERNETES_FILE)) return projected;
  throw usage(
    'there is no token of a platform: no --token-file, no id-token permission of GitHub Actions, no ACG_ID_TOKEN, no ' +
      `ACG_ID_TOKEN_FILE and no ${KUBERNETES_FILE}`,
    'docs/workload-identity.md has a recipe for each platform',
  );
}

const fileSource = (path: string, name: string): WorkloadTokenSource => ({
  name,
  async read() {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (error) {
      throw usage(`the token of the workload cannot be read: ${(error as Error).message}`);
    }
  },
});

function isReadable(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/** GitHub gives a job a new token for each request. */
async function requestGitHubToken(url: string, bearer: string, audience: string): Promise<string> {
  const target = new URL(url);
  target.searchParams.set('audience', audience);
  const fail = (text: string) => new CliError(EXIT_CODES.failed, `GitHub Actions gives no token: ${text}`);
  if (!TOKEN_TEXT.test(bearer)) throw fail('ACTIONS_ID_TOKEN_REQUEST_TOKEN has a character that no token has');
  const response = await fetch(target, {
    headers: { authorization: `Bearer ${bearer}`, accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw fail(error.message);
  });
  if (!response.ok) throw fail(`it responds with ${response.status}`);
  const text = await response.text();
  const { value } = (text.length > TOKEN_BYTES_MAX ? {} : JSON.parse(text)) as { readonly value?: unknown };
  if (typeof value !== 'string') throw fail('its response has no value');
  return value;
}
