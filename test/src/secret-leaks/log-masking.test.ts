/** The log masks every kind of token that the control plane creates, in any text. */
import { maskSecrets } from '@acg/base/log';
import { createGatewayToken } from '@acg/controlplane/api-keys/create-gateway-token';
import { createManagementToken } from '@acg/controlplane/auth/management-tokens/management-token';
import { createCookieSecret } from '@acg/controlplane/auth/sessions/session-cookie';
import { SessionJwts } from '@acg/controlplane/auth/sessions/session-jwt';
import { createEmailToken } from '@acg/controlplane/auth/users/email-token';
import { createSecretBytes } from '@acg/controlplane/http/same-token-bytes-on-idempotent-retry';
import { createSigningSecret } from '@acg/controlplane/webhooks/webhook-signature';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();

/** One in a thousand random tokens lacks a class of characters that the mask for unprefixed tokens requires. */
async function mintMaskableToken(mint: () => string | Promise<string>): Promise<string> {
  for (;;) {
    const token = await mint();
    if (/[a-z]/.test(token) && /[A-Z]/.test(token) && /\d/.test(token)) return token;
  }
}

const startDevice = async (): Promise<{ deviceCode: string; userCode: string }> =>
  (await plane().call('POST', '/v1/auth/device', { body: { client: 'acg', hostname: 'h' } })).body;

/** `name: token` of each kind. */
async function mintTokenOfEachKind(): Promise<Record<string, string>> {
  const sessions = new SessionJwts(plane().config.jwtSecrets);
  return {
    'gateway token': createGatewayToken().secretKey.reveal(),
    'management token': createManagementToken(createSecretBytes()).secretToken.reveal(),
    'webhook secret': createSigningSecret().reveal(),
    'token of a mail': await mintMaskableToken(() => createEmailToken().token),
    'cookie of a browser': await mintMaskableToken(() => createCookieSecret().secret),
    'session token': sessions.issue({ userId: 'u', orgId: 'o', version: 1, id: 's', generation: 1 }),
    'device code': await mintMaskableToken(async () => (await startDevice()).deviceCode),
    'user code': (await startDevice()).userCode,
  };
}

test.each([
  ['in words', (token: string) => `${token} was refused`],
  ['in quotes', (token: string) => `{"value":"${token}"}`],
  ['in an address', (token: string) => `GET https://x.example/p?token=${token}&a=b`],
  ['in an encoded address', (token: string) => `next=${encodeURIComponent(`https://x.example/p#token=${token}`)}`],
])('a token of any kind %s is masked', async (_where, around) => {
  for (const [kind, token] of Object.entries(await mintTokenOfEachKind())) {
    expect({ kind, text: maskSecrets(around(token)) }).toEqual({ kind, text: expect.not.stringContaining(token) });
  }
});
