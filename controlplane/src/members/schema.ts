import { type Static, Type } from 'typebox';
import { FactorCode, MailToken, PASSWORD_LENGTH } from '../auth/users/auth-schema.js';
import { SessionInfo } from '../auth/users/session-schema.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Email, PublicName, Role, Timestamp, Uuid } from '../http/schema.js';
import { SearchQuery, SortQuery } from '../http/search-and-sort-query-schema.js';

export const Member = Type.Object({
  userId: Type.String({
    format: 'uuid',
    description: 'Id of the user, or of the invitation while the status is invited.',
  }),
  email: Type.String(),
  name: Type.Union([Type.String(), Type.Null()], { description: 'Null while the status is invited.' }),
  role: Role,
  status: Type.Union([Type.Literal('active'), Type.Literal('invited')]),
  createdAt: Timestamp,
  emailVerified: Type.Boolean({ description: 'False while the status is invited.' }),
  lastSeenAt: Type.Union([Timestamp, Type.Null()], {
    description: 'The last request of a session in this organization, to the minute. Null: none that is still stored.',
  }),
});
export type Member = Static<typeof Member>;

export const MemberQuery = Type.Object({
  ...PageQuery,
  ...SearchQuery('the name or the e-mail address'),
  role: Type.Optional(Role),
  status: Type.Optional(Type.Enum(['active', 'invited'])),
  ...SortQuery(['createdAt', 'name', 'email', 'role', 'lastSeenAt']),
});
export type MemberQuery = Static<typeof MemberQuery>;
export const MemberList = Type.Object({ members: Type.Array(Member), ...PageReply });
export const MemberReply = Type.Object({ member: Member });
export const InvitedReply = Type.Object({
  member: Member,
  invitationUrl: Type.Union([Type.String(), Type.Null()], {
    description:
      'The invitation link, if mails are stored as files on the server; otherwise null, because only the mail contains the link.',
  }),
});
export const MemberParams = Type.Object({ userId: Uuid });
export const InviteInput = Body({ email: Email, role: Role });
export const RoleInput = Body({ role: Role });
/**
 * `existing`: an account with the address exists; the caller must send its password or a session of it. `secondFactor`:
 * beside the password the code of its second factor, too.
 */
export const AcceptRefused = Type.Object({
  error: Type.String(),
  existing: Type.Optional(Type.Literal(true)),
  secondFactor: Type.Optional(Type.Literal(true)),
});
export const AcceptInput = Body({
  token: MailToken,
  name: Type.Optional(PublicName),
  password: Type.Optional(Type.String(PASSWORD_LENGTH)),
  code: Type.Optional(FactorCode),
});

export const RemovalQuery = Type.Object({
  revoke: Type.Optional(
    Type.Literal('created', {
      description:
        'Also ends what the list `created` has: gateway tokens, webhooks, running runs, SCIM tokens and trust rules.',
    }),
  ),
});
export const CreatedItems = Type.Object({
  items: Type.Array(
    Type.Object({
      kind: Type.Enum(['api_key', 'webhook', 'management_token', 'run', 'scim_token', 'trust_rule'], {
        description: 'Management tokens end with the membership in any case.',
      }),
      id: Uuid,
      name: Type.String(),
      detail: Type.String(),
      createdAt: Timestamp,
    }),
  ),
  total: Type.Integer({ description: 'The list has at most 200 of them.' }),
});
export type CreatedItems = Static<typeof CreatedItems>;
export const MemberSessionList = Type.Object({ sessions: Type.Array(SessionInfo), ...PageReply });
export const MemberSessionParams = Type.Object({ userId: Uuid, sessionId: Uuid });

export const LookupInput = Body({ token: MailToken });
export const InvitationDetails = Type.Object({
  orgName: Type.String(),
  role: Role,
  email: Type.String(),
  inviter: Type.Union([Type.Object({ name: Type.String(), email: Type.String() }), Type.Null()], {
    description: 'Null: no longer a member.',
  }),
  account: Type.Enum(['new', 'existing', 'unconfirmed', 'session'], {
    description:
      'What the acceptance needs. `new`: name and password; `existing`: the password of the account; `unconfirmed`: a new password; `session`: nothing, the caller is logged in with the address.',
  }),
  sso: Type.Boolean({ description: 'The organization’s identity provider logs in people of this address.' }),
  ssoRequired: Type.Boolean({ description: 'Only single sign-on opens the organization.' }),
});
export type InvitationDetails = Static<typeof InvitationDetails>;

/** For the API document. */
export const EXAMPLES = {
  'Member.name': 'Ada Lovelace',
  'AcceptInput.name': 'Ada Lovelace',
  'AcceptRefused.error': 'log in to the account of this address first',
  'AcceptInput.token': 'example-token-of-no-mail',
  'LookupInput.token': 'example-token-of-no-mail',
  'inviter.name': 'Grace Hopper',
  'InvitationDetails.orgName': 'Acme',
  account: 'new',
  sso: false,
  'InvitationDetails.ssoRequired': false,
  invitationUrl: null,
};
