/** A login by single sign-on, as a browser does it: start, answer of the provider, callback. */
import { promises as dns } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import type { Member, TestControlPlane } from '../fixtures/control-plane.js';
import { CLIENT_ID, CLIENT_SECRET } from './hostile-provider.js';

const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

type TxtRecords = Map<string, readonly string[] | 'silent'>;

/** Replaces the name servers: `records` has the texts of each name, 'silent' for one that never answers. */
export function useTxtRecords(records: TxtRecords = new Map()): { readonly records: TxtRecords; restore(): void } {
  const original = dns.resolveTxt;
  dns.resolveTxt = async (name) => {
    const texts = records.get(name);
    if (texts === undefined || texts === 'silent')
      throw Object.assign(new Error(name), { code: texts === undefined ? 'ENOTFOUND' : 'ETIMEOUT' });
    // A text of more than 255 bytes arrives in pieces.
    return texts.map((text) => [text.slice(0, 10), text.slice(10)]);
  };
  syncBuiltinESMExports();
  return {
    records,
    restore() {
      dns.resolveTxt = original;
      syncBuiltinESMExports();
    },
  };
}

/** Adds the domain to the owner's organization and verifies it. */
export async function verifyDomain(owner: Member, domain: string, records: TxtRecords): Promise<string> {
  const added = await owner.call('POST', '/v1/sso/domains', { domain });
  const { id, recordName, recordValue } = added.body.domain;
  records.set(recordName, ['unrelated', recordValue]);
  const verified = await owner.call('POST', `/v1/sso/domains/${id}/verify`);
  if (verified.body.domain?.verifiedAt == null) throw new Error(`not verified: ${JSON.stringify(verified.body)}`);
  return id;
}

export const configure = (owner: Member, issuer: string, more: object = {}) =>
  owner.call('PUT', '/v1/sso', {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    defaultRole: 'viewer',
    ...more,
  });

interface StartedLogin {
  readonly authorization: URL;
  readonly state: string;
  readonly nonce: string;
  readonly cookie: string;
}

export async function startLogin(plane: TestControlPlane, email: string): Promise<StartedLogin> {
  const response = await fetch(`${plane.url}/v1/sso/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...OWN_PAGE },
    body: JSON.stringify({ email }),
  });
  const body = (await response.json()) as { url?: string; error?: string };
  if (body.url === undefined) throw new Error(`${response.status} ${body.error}`);
  const authorization = new URL(body.url);
  const { searchParams } = authorization;
  const cookie = readCookies(response).acg_sso!;
  return { authorization, state: searchParams.get('state')!, nonce: searchParams.get('nonce')!, cookie };
}

export interface CallbackResult {
  readonly status: number;
  readonly text: string;
  readonly cookies: Readonly<Record<string, string>>;
  readonly setCookies: readonly string[];
}

/** `cookie` null: a browser that did not begin the login. */
export async function openCallback(
  plane: TestControlPlane,
  orgId: string,
  parameters: Readonly<Record<string, string>>,
  cookie: string | null,
): Promise<CallbackResult> {
  const url = `${plane.url}/sso/${orgId}/callback?${new URLSearchParams(parameters)}`;
  const response = await fetch(url, { headers: cookie === null ? {} : { cookie: `acg_sso=${cookie}` } });
  const setCookies = response.headers.getSetCookie();
  return { status: response.status, text: await response.text(), cookies: readCookies(response), setCookies };
}

export const callWithSession = (
  plane: TestControlPlane,
  session: string | undefined,
  method: string,
  path: string,
  body?: unknown,
) => plane.call(method, path, { headers: { ...OWN_PAGE, cookie: `acg_session=${session}` }, body });

export const callLink = (plane: TestControlPlane, cookie: string | undefined, body: object) =>
  plane.call('POST', '/v1/sso/link', { headers: { ...OWN_PAGE, cookie: `acg_sso=${cookie}` }, body });

const readCookies = (response: Response): Record<string, string> =>
  Object.fromEntries(
    response.headers.getSetCookie().map((line) => {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
