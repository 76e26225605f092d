import { type Static, Type } from 'typebox';
import { FactorCode, MailToken, PASSWORD_LENGTH } from '../auth/users/auth-schema.js';
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
});
export type Member = Static<typeof Member>;

export const MemberQuery = Type.Object({
  ...PageQuery,
  ...SearchQuery('the name or the e-mail address'),
  role: Type.Optional(Role),
  status: Type.Optional(Type.Enum(['active', 'invited'])),
  ...SortQuery(['createdAt', 'name', 'email', 'role']),
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

/** For the API document. */
export const EXAMPLES = {
  'Member.name': 'Ada Lovelace',
  'AcceptInput.name': 'Ada Lovelace',
  'AcceptRefused.error': 'log in to the account of this address first',
  'AcceptInput.token': 'example-token-of-no-mail',
  invitationUrl: null,
};
