/** A directory that calls SCIM: requests in the forms of Entra ID and Okta. */
import type { Member, TestControlPlane } from '../fixtures/control-plane.js';

interface ScimResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a JSON document
  readonly body: any;
  readonly contentType: string;
}

export interface Directory {
  readonly token: string;
  readonly tokenId: string;
  call(method: string, path: string, body?: unknown): Promise<ScimResponse>;
}

/** Creates a token of the owner's organization. */
export async function connectDirectory(plane: TestControlPlane, owner: Member): Promise<Directory> {
  const created = await owner.call('POST', '/v1/scim/tokens', { name: 'Directory' });
  if (created.status !== 201) throw new Error(`${created.status} ${JSON.stringify(created.body)}`);
  const token: string = created.body.secretToken;
  return {
    token,
    tokenId: created.body.token.id,
    call: (method, path, body) => callScim(plane.url, token, method, path, body),
  };
}

export async function callScim(
  url: string,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<ScimResponse> {
  const response = await fetch(`${url}/scim/v2${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/scim+json; charset=utf-8' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? null : JSON.parse(text),
    contentType: response.headers.get('content-type') ?? '',
  };
}

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const patchOf = (...Operations: readonly object[]) => ({ schemas: [PATCH_SCHEMA], Operations });
/** How Entra ID deactivates, and how Okta does. */
export const ENTRA_DISABLE = patchOf({ op: 'Replace', path: 'active', value: false });
export const OKTA_DEACTIVATE = patchOf({ op: 'replace', value: { active: false } });
