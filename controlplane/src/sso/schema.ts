import { type Static, Type } from 'typebox';
import { FactorCode } from '../auth/users/auth-schema.js';
import { EXAMPLE_TIMES } from '../http/examples.js';
import { Body, Email, Timestamp, Uuid } from '../http/schema.js';

const DefaultRole = Type.Union([Type.Literal('viewer'), Type.Literal('member'), Type.Literal('admin'), Type.Null()], {
  description: 'The role of people who log in for the first time; null: they need an invitation.',
});
const GroupsClaim = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The claim of the ID token that lists the groups. Default: `groups`; left out: as it is.',
});
const GroupRoles = Type.Array(
  Type.Object(
    {
      group: Type.String({ minLength: 1, maxLength: 255, description: 'As the claim names it, e.g. a name or an id.' }),
      role: Type.Union([Type.Literal('viewer'), Type.Literal('member'), Type.Literal('admin')]),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 200,
    description:
      'The highest role of the groups of a person counts, at each login. In none of these groups: `defaultRole`, or no login. Left out: as it is; empty: groups decide nothing.',
  },
);
const BreakGlassUserId = Type.Union([Uuid, Type.Null()], {
  description:
    'Requires single sign-on of everybody but this owner, who has a second factor. Left out: as it is; null: not required.',
});
export const SsoInput = Body({
  issuer: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'The issuer, as the provider’s discovery document names it.',
  }),
  clientId: Type.String({ minLength: 1, maxLength: 255 }),
  clientSecret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Required with a new issuer or client; otherwise the stored one is kept.',
    }),
  ),
  defaultRole: DefaultRole,
  groupsClaim: Type.Optional(GroupsClaim),
  groupRoles: Type.Optional(GroupRoles),
  breakGlassUserId: Type.Optional(BreakGlassUserId),
});
export type SsoInput = Static<typeof SsoInput>;
export const SsoDomain = Type.Object({
  id: Uuid,
  domain: Type.String(),
  recordName: Type.String({ description: 'Name of the TXT record that verifies the domain.' }),
  recordValue: Type.String({ description: 'Its content.' }),
  verifiedAt: Type.Union([Timestamp, Type.Null()], { description: 'Null: not verified.' }),
  checkedAt: Type.Union([Timestamp, Type.Null()], { description: 'Null: never checked.' }),
});
export type SsoDomain = Static<typeof SsoDomain>;
export const SsoSettings = Type.Object({
  connection: Type.Union([
    Type.Object({
      issuer: Type.String(),
      clientId: Type.String(),
      defaultRole: DefaultRole,
      groupsClaim: Type.String(),
      groupRoles: GroupRoles,
      breakGlassUserId: BreakGlassUserId,
      createdAt: Timestamp,
    }),
    Type.Null(),
  ]),
  redirectUri: Type.String({ description: 'The redirect URI to register at the provider.' }),
  domains: Type.Array(SsoDomain),
});
export type SsoSettings = Static<typeof SsoSettings>;
const SsoTestStep = Type.Object({
  name: Type.String(),
  ok: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'Null: only a login can tell.' }),
  message: Type.String({ description: 'What was found, without any secret.' }),
  action: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'What to do; null: nothing.' }),
});
export type SsoTestStep = Static<typeof SsoTestStep>;
export const SsoTestReply = Type.Object({
  ok: Type.Boolean({ description: 'No step failed.' }),
  steps: Type.Array(SsoTestStep, { description: 'Steps that need a failed one are left out.' }),
});
export type SsoTestReply = Static<typeof SsoTestReply>;
export const DomainInput = Body({ domain: Type.String({ minLength: 1, maxLength: 253 }) });
export const DomainReply = Type.Object({ domain: SsoDomain });
export const StartInput = Body({ email: Email });
export const StartReply = Type.Object({ url: Type.String({ description: 'Where the browser continues.' }) });
export const LinkInput = Body({ password: Type.String({ maxLength: 256 }), code: Type.Optional(FactorCode) });

/** For the API document. */
export const EXAMPLES = {
  issuer: 'https://login.example.com/realms/acme',
  clientId: 'agent-credential-gateway',
  clientSecret: 'example-client-secret-not-in-use',
  defaultRole: 'viewer',
  groupsClaim: 'groups',
  group: 'Engineering',
  'groupRoles.role': 'member',
  breakGlassUserId: null,
  'DomainInput.domain': 'example.com',
  'SsoDomain.domain': 'example.com',
  recordName: '_acg-challenge.example.com',
  recordValue: 'acg-domain-verification=example',
  'SsoDomain.verifiedAt': EXAMPLE_TIMES.used,
  'SsoDomain.checkedAt': EXAMPLE_TIMES.used,
  redirectUri: 'https://gateway.example.com/sso/0193d4a0-0000-7000-8000-000000000001/callback',
  'SsoTestReply.ok': true,
  'SsoTestReply.steps': [
    { name: 'discovery', ok: true, message: 'The discovery document answers.', action: null },
    { name: 'domains', ok: true, message: 'Verified: example.com.', action: null },
  ],
  'StartReply.url': 'https://login.example.com/authorize?client_id=agent-credential-gateway',
  'LinkInput.password': 'example password, not in use',
};
