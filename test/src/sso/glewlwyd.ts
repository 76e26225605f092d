/**
 * Glewlwyd, an identity provider in C that shares no library with the gateway (Debian package `glewlwyd`), with its own
 * database. Its instances `staff` and `partners` are two issuers with a key each. People and clients are created by its
 * administration API.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../fixtures/free-port.js';
import { waitUntil } from '../fixtures/wait-until.js';

const SCHEMA = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3';
const MODULES = '/usr/lib/glewlwyd';
const PAGES = '/usr/share/glewlwyd';
/** Of the schema. */
const ADMINISTRATOR = { username: 'admin', password: 'password' };
const SCOPES = ['openid', 'email', 'profile'];
const MIME_TYPES = { html: 'text/html', js: 'application/javascript', json: 'application/json', css: 'text/css' };

export interface Person {
  readonly email?: string;
  readonly email_verified?: 'yes' | 'no';
  readonly groups?: readonly string[];
}

export class Glewlwyd {
  readonly #directory = mkdtempSync(join(tmpdir(), 'acg-glewlwyd-'));
  readonly #port: number;
  #process: ChildProcess | null = null;
  #administrator = '';

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(): Promise<Glewlwyd> {
    const provider = new Glewlwyd(await freePort());
    provider.#writeFiles();
    await provider.#run();
    await provider.#setUp();
    return provider;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  issuer(instance: 'staff' | 'partners' = 'staff'): string {
    return `${this.origin}/api/${instance}`;
  }

  /** A confidential client with that redirect URI. */
  async addClient(clientId: string, clientSecret: string, redirectUri: string): Promise<void> {
    await this.#call('POST', '/client/', {
      client_id: clientId,
      name: clientId,
      confidential: true,
      password: clientSecret,
      client_secret: clientSecret,
      redirect_uri: [redirectUri],
      authorization_type: ['code'],
      token_endpoint_auth_method: ['client_secret_basic', 'client_secret_post'],
      scope: [],
    });
  }

  /** The password is the name. */
  async addPerson(username: string, person: Person): Promise<void> {
    const scope = [...SCOPES, 'g_profile'];
    await this.#call('POST', '/user/', {
      username,
      password: `${username} ${username}`,
      name: username,
      scope,
      ...person,
    });
  }

  changePerson = (username: string, person: Person): Promise<void> =>
    this.#call('PUT', `/user/${username}`, { scope: [...SCOPES, 'g_profile'], ...person });

  /** What the log-in page does in the person's browser: password, consent, and the way back. Returns the callback. */
  async authorize(authorization: URL, username: string): Promise<URL> {
    const page = await followOnce(authorization, null);
    if (!page.pathname.endsWith('/login.html')) throw new Error(`no log-in page: ${page}`);
    const cookie = await this.#logIn({ username, password: `${username} ${username}` });
    const clientId = page.searchParams.get('client_id')!;
    await this.#call('PUT', `/auth/grant/${clientId}/`, { scope: page.searchParams.get('scope') }, cookie);
    const next = new URL(page.searchParams.get('callback_url')!);
    next.searchParams.set('g_continue', '');
    return followOnce(next, cookie);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child !== null && child.exitCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #writeFiles(): void {
    const database = join(this.#directory, 'database');
    execFileSync('sqlite3', [database], { input: readFileSync(SCHEMA) });
    // The package has its settings of the pages elsewhere.
    const pages = join(this.#directory, 'pages');
    // Its scripts and styles are links to other packages, which the server does not follow.
    const filter = (path: string) => !path.endsWith('/config.json');
    cpSync(join(PAGES, 'webapp'), pages, { recursive: true, dereference: true, filter });
    cpSync(join(PAGES, 'templates', 'config.json'), join(pages, 'config.json'));
    const modules = { user: 'user', client: 'client', user_auth_scheme: 'scheme', plugin: 'plugin' };
    const types = Object.entries(MIME_TYPES).map(([end, type]) => `{ extension = ".${end}"; mime_type = "${type}" }`);
    const settings = [
      `port=${this.#port}`,
      'bind_address="127.0.0.1"',
      `external_url="${this.origin}"`,
      'login_url="login.html"',
      'api_prefix="api"',
      `static_files_path="${pages}/"`,
      `static_files_mime_types = ( ${types.join(', ')} )`,
      'log_mode="console"',
      'log_level="WARNING"',
      'cookie_secure=0',
      'hash_algorithm="SHA512"',
      ...Object.entries(modules).map(([name, folder]) => `${name}_module_path="${MODULES}/${folder}"`),
      `database = { type = "sqlite3"; path = "${database}"; };`,
    ];
    writeFileSync(join(this.#directory, 'glewlwyd.conf'), settings.join('\n'));
  }

  async #run(): Promise<void> {
    const child = spawn('glewlwyd', ['-c', join(this.#directory, 'glewlwyd.conf')], { stdio: 'ignore' });
    this.#process = child;
    const failure = once(child, 'error').then(([error]) => {
      throw error;
    });
    failure.catch(() => undefined);
    const ready = waitUntil('glewlwyd answers', async () => {
      if (child.exitCode !== null) throw new Error(`glewlwyd ended with ${child.exitCode}`);
      return (await fetch(`${this.origin}/config`).catch(() => null)) !== null;
    });
    await Promise.race([ready, failure]);
  }

  async #setUp(): Promise<void> {
    this.#administrator = await this.#logIn(ADMINISTRATOR);
    const users = (await this.#read('/mod/user/database')) as { parameters: { 'data-format': Record<string, object> } };
    Object.assign(users.parameters['data-format'], {
      groups: { multiple: true, read: true, write: true },
      email_verified: { multiple: false, read: true, write: true },
    });
    await this.#call('PUT', '/mod/user/database', users);
    await this.#call('PUT', '/mod/user/database/reset/');
    for (const name of ['email', 'profile'])
      await this.#call('POST', '/scope/', { name, display_name: name, password_required: false, scheme: {} });
    for (const name of ['staff', 'partners'] as const) await this.#addIssuer(name);
  }

  #addIssuer(name: 'staff' | 'partners'): Promise<void> {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const claim = { mandatory: true, 'on-demand': false, scope: [] };
    const verified = { 'boolean-value-true': 'yes', 'boolean-value-false': 'no' };
    return this.#call('POST', '/mod/plugin/', {
      module: 'oidc',
      name,
      display_name: name,
      order_rank: 0,
      parameters: {
        iss: this.issuer(name),
        'jwt-type': 'rsa',
        'jwt-key-size': '256',
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        cert: publicKey.export({ type: 'spki', format: 'pem' }),
        'access-token-duration': 3600,
        'refresh-token-duration': 3600,
        'code-duration': 600,
        'auth-type-code-enabled': true,
        'auth-type-code-revoke-replayed': true,
        'auth-type-id-token-enabled': true,
        claims: [
          { ...claim, name: 'groups', 'user-property': 'groups', type: 'string' },
          { ...claim, ...verified, name: 'email_verified', 'user-property': 'email_verified', type: 'boolean' },
        ],
        'subject-type': 'public',
        'name-claim': 'mandatory',
        'email-claim': 'mandatory',
        'scope-claim': 'no',
        'address-claim': { type: 'no' },
        'allowed-scope': SCOPES,
        'pkce-allowed': true,
        'jwks-show': true,
        'oauth-as-iss-id': true,
        scope: [],
        'additional-parameters': [],
      },
    });
  }

  async #logIn(credentials: { readonly username: string; readonly password: string }): Promise<string> {
    const response = await this.#send('POST', '/auth/', credentials, null);
    return response.headers.getSetCookie()[0]!.split(';')[0]!;
  }

  async #call(method: string, path: string, body?: object, cookie = this.#administrator): Promise<void> {
    await (await this.#send(method, path, body, cookie)).text();
  }

  async #read(path: string): Promise<unknown> {
    return (await this.#send('GET', path, undefined, this.#administrator)).json();
  }

  async #send(method: string, path: string, body: object | undefined, cookie: string | null): Promise<Response> {
    const response = await fetch(`${this.origin}/api${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(cookie === null ? {} : { cookie }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`glewlwyd: ${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}

/** Where a browser is sent. */
async function followOnce(url: URL, cookie: string | null): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual', headers: cookie === null ? {} : { cookie } });
  const location = response.headers.get('location');
  if (location === null) throw new Error(`${url}: ${response.status} without a redirect`);
  return new URL(location, url);
}
