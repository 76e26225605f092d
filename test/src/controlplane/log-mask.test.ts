/** The log masks every kind of token that the control plane creates, whatever text it stands in. */
import { maskSecrets } from '@acg/base/log';
import { newGatewayToken } from '@acg/controlplane/api-keys/gateway-token';
import { newCookieSecret } from '@acg/controlplane/auth/cookie';
import { newEmailToken } from '@acg/controlplane/auth/email-token';
import { managementTokenOf } from '@acg/controlplane/auth/management-token';
import { SessionTokens } from '@acg/controlplane/auth/session-token';
import { secretBytes } from '@acg/controlplane/http/secret-bytes';
import { newSigningSecret } from '@acg/controlplane/webhooks/sign';
import { expect, test } from 'vitest';
import { useControlPlane } from '../control-plane.js';

const plane = useControlPlane();

/** One in a thousand random tokens lacks a class of letters, by which the mask knows those without a prefix. */
async function usual(mint: () => string | Promise<string>): Promise<string> {
  for (;;) {
    const token = await mint();
    if (/[a-z]/.test(token) && /[A-Z]/.test(token) && /\d/.test(token)) return token;
  }
}

const startDevice = async (): Promise<{ deviceCode: string; userCode: string }> =>
  (await plane().call('POST', '/v1/auth/device', { body: { client: 'acg', hostname: 'h' } })).body;

/** `name: token` of each kind. */
async function mintAll(): Promise<Record<string, string>> {
  const sessions = new SessionTokens(plane().config.jwtSecrets);
  return {
    'gateway token': newGatewayToken().secretKey.reveal(),
    'management token': managementTokenOf(secretBytes()).secretToken.reveal(),
    'webhook secret': newSigningSecret().reveal(),
    'token of a mail': await usual(() => newEmailToken().token),
    'cookie of a browser': await usual(() => newCookieSecret().secret),
    'session token': sessions.issue({ userId: 'u', orgId: 'o', version: 1, id: 's', generation: 1 }),
    'device code': await usual(async () => (await startDevice()).deviceCode),
    'user code': (await startDevice()).userCode,
  };
}

test.each([
  ['in words', (token: string) => `${token} was refused`],
  ['in quotes', (token: string) => `{"value":"${token}"}`],
  ['in an address', (token: string) => `GET https://x.example/p?token=${token}&a=b`],
  ['in an encoded address', (token: string) => `next=${encodeURIComponent(`https://x.example/p#token=${token}`)}`],
])('a token of any kind %s is masked', async (_where, around) => {
  for (const [kind, token] of Object.entries(await mintAll())) {
    expect({ kind, text: maskSecrets(around(token)) }).toEqual({ kind, text: expect.not.stringContaining(token) });
  }
});
