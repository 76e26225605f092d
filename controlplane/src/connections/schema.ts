import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../http/examples.js';
import { Body } from '../http/schema.js';

export const ConnectReply = Type.Object({
  url: Type.String({ description: 'Where the browser goes next. It must be the one that sent the request.' }),
});
export const ConnectionInput = Body({
  redirectPath: Type.String({ maxLength: 300, pattern: '^/[\\x21-\\x7e]*$' }),
  state: Type.String({ minLength: 1, maxLength: 200 }),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
  iss: Type.Optional(Type.String({ maxLength: 500 })),
  error: Type.Optional(Type.String({ maxLength: 100, pattern: '^[\\w.-]*$' })),
});
export type ConnectionInput = Static<typeof ConnectionInput>;
const orNull = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid', description });
export const ConnectionReply = Type.Object({
  ok: Type.Literal(true),
  accountId: orNull('The connected account; null: a shared credential was connected.'),
  credentialId: orNull('The connected shared credential.'),
});

/** For the API document. */
export const EXAMPLES = {
  'ConnectReply.url': 'https://accounts.example.com/authorize?client_id=…',
  redirectPath: '/connect/gateway/linear/callback',
  'ConnectionInput.state': 'Xz9…',
  'ConnectionInput.code': 'SplxlOBeZQQYbYS6WxSbIA',
  'ConnectionInput.iss': undefined,
  'ConnectionInput.error': undefined,
  'ConnectionReply.accountId': EXAMPLE_IDS.account,
  'ConnectionReply.credentialId': null,
};
