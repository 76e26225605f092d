/** Runs `acg` in this process against an API whose responses the test gives. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, vi } from 'vitest';
import { runCommandLine } from '../program.js';
import type { Terminal } from '../terminal/terminal.js';

export const ID = '01a200de-16d8-74de-8093-48e13086089c';
export const OTHER_ID = '01a200de-16d8-74de-8093-48e13086089d';
/** Holds what the commands below read from a response. */
export const RESPONSE = {
  agent: { slug: 'bot', status: 'paused' },
  provider: { slug: 'groq' },
  endpoint: { secret: 'whsec_new', previousSecretUntil: null },
  keys: [{ keyPrefix: 'acg_1', name: 'ci', agentName: null, scope: 'org', status: 'active', replacedBy: null, id: ID }],
  circuits: [],
  prices: [],
  total: 3,
  offset: 0,
};

interface Api {
  requests: { readonly method: string; readonly path: string; readonly body: unknown }[];
  /** Replaced by a test that needs another response. */
  respond: (path: string) => Response | Promise<Response>;
}

/** Stands for the API in each test of the calling file. */
export function stubApi(): Api {
  const api: Api = { requests: [], respond: () => Response.json(RESPONSE) };
  beforeEach(() => {
    api.requests = [];
    api.respond = () => Response.json(RESPONSE);
    vi.stubGlobal('fetch', async (input: Request | string) => {
      const request = new Request(input);
      const { pathname, searchParams } = new URL(request.url);
      const text = await request.text();
      const body: unknown = request.method === 'GET' ? Object.fromEntries(searchParams) : text && JSON.parse(text);
      api.requests.push({ method: request.method, path: pathname, body });
      return api.respond(pathname);
    });
  });
  afterEach(() => vi.unstubAllGlobals());
  return api;
}

interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Columns of the terminal; without them stdout is a pipe. */
  readonly columns?: number;
}

export async function run(
  line: string,
  { input, env, columns }: RunOptions = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const terminal = {
    env: { ACG_URL: 'http://127.0.0.1:1', ACG_TOKEN: 'token', ...env },
    cwd: '/',
    home: '/nonexistent',
    platform: 'linux',
    uid: 0,
    stdin: input === undefined ? {} : Readable.from([input]),
    stdout: { ...stream('stdout'), ...(columns === undefined ? {} : { isTTY: true, columns }) },
    stderr: stream('stderr'),
  } as unknown as Terminal;
  return { code: await runCommandLine(line.split(' '), terminal), ...written };
}
