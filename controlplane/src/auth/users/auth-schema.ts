import { type Static, type TSchema, Type } from 'typebox';
import { EXAMPLE_IDS } from '../../http/examples.js';
import { Body, Email, PublicName, Role, Timestamp, Uuid } from '../../http/schema.js';

export const PASSWORD_LENGTH = { minLength: 10, maxLength: 256 };
const NewPassword = Type.String(PASSWORD_LENGTH);
/** The token of a mail. Every unknown token of this shape gets the same error. */
export const MailToken = Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' });

/** A code of an authenticator app, or a recovery code. */
export const FactorCode = Type.String({
  minLength: 6,
  maxLength: 40,
  description: 'The 6 digits that the authenticator app shows, or a recovery code. Each code works once.',
});
/** `secondFactor`: the request needs a code of the second factor. */
export const SecondFactorRejection = Type.Object({
  error: Type.String(),
  secondFactor: Type.Optional(Type.Literal(true)),
});

export const SignupInput = Body({ email: Email, password: NewPassword, name: PublicName, orgName: PublicName });
/** No minimum length: a password that is too short is simply wrong. */
export const LoginInput = Body({
  email: Email,
  password: Type.String({ maxLength: 256 }),
  code: Type.Optional(FactorCode),
});
export const ChangePasswordInput = Body({
  currentPassword: Type.String({ maxLength: 256 }),
  newPassword: NewPassword,
});
export const SwitchInput = Body({ orgId: Uuid });
export const AddressInput = Body({ email: Email });
export const RenameInput = Body({ name: PublicName });
export const ResetInput = Body({ token: MailToken, password: NewPassword });
export const VerifyInput = Body({
  token: MailToken,
  password: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'The password of the account. With a wrong password the address stays unverified.',
    }),
  ),
});

const User = Type.Object({ id: Uuid, email: Type.String(), name: Type.String() });
const Organization = { id: Uuid, name: Type.String(), slug: Type.String() };
export const OrganizationWithRole = Type.Object({
  ...Organization,
  role: Role,
  purgeAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Only while the organization is being deleted: an owner can restore it until this time.',
    }),
  ),
  secondFactorMissing: Type.Optional(
    Type.Literal(true, {
      description: 'The organization requires a second factor, which the user has not set up: calls in it are 403.',
    }),
  ),
  ssoRequired: Type.Optional(
    Type.Literal(true, {
      description: 'The organization requires single sign-on: calls in it are 403 in sessions that it did not open.',
    }),
  ),
  itemsSuspended: Type.Optional(
    Type.Literal(true, { description: 'Only for owners, while suspended items wait for a review.' }),
  ),
});
export type OrganizationWithRole = Static<typeof OrganizationWithRole>;

export const SignupReply = Type.Object({ token: Type.String(), user: User, org: Type.Object(Organization) });
export type SignupReply = Static<typeof SignupReply>;
export const LoginReply = Type.Object({
  token: Type.String(),
  user: User,
  orgId: Uuid,
  orgs: Type.Array(OrganizationWithRole),
});
export type LoginReply = Static<typeof LoginReply>;
export const RefreshReply = Type.Object({ token: Type.String() });
export const SwitchReply = Type.Object({ token: Type.String(), orgId: Uuid });
export const Ok = Type.Object({ ok: Type.Literal(true) });
const nullable = <T extends TSchema>(type: T, description: string) => Type.Union([type, Type.Null()], { description });
const Self = Type.Object({ ...User.properties, emailVerified: Type.Boolean() });
const activeOrganizationFields = { orgId: Uuid, role: Role, orgs: Type.Array(OrganizationWithRole) };
/** The account of a user. */
export const SelfReply = Type.Object({ user: Self, ...activeOrganizationFields });
export type SelfReply = Static<typeof SelfReply>;
export const MeReply = Type.Object({
  user: nullable(Self, 'Null for a management token, which is not a user.'),
  token: nullable(
    Type.Object({
      id: Uuid,
      name: Type.String(),
      tokenPrefix: Type.String(),
      projectId: nullable(Uuid, 'Null: the whole organization.'),
      expiresAt: nullable(Timestamp, 'Null: never.'),
      createdAt: Timestamp,
    }),
    'The management token of the call; null in the session of a user.',
  ),
  ...activeOrganizationFields,
});
export type MeReply = Static<typeof MeReply>;

const JWT = 'eyJhbGciOiJIUzI1NiJ9.example.not-a-real-session';
/** For the API document. */
export const EXAMPLES = {
  'OrganizationWithRole.id': EXAMPLE_IDS.org,
  'user.id': EXAMPLE_IDS.user,
  'RenameInput.name': 'Ada Lovelace',
  'SignupInput.name': 'Ada Lovelace',
  'user.name': 'Ada Lovelace',
  'OrganizationWithRole.name': 'Acme',
  orgName: 'Acme',
  'OrganizationWithRole.slug': 'acme',
  'OrganizationWithRole.role': 'owner',
  'MeReply.role': 'owner',
  'SelfReply.role': 'owner',
  currentPassword: 'example password, not in use',
  newPassword: 'another example password',
  token: JWT,
  'ResetInput.token': 'example-token-of-no-mail',
  'VerifyInput.token': 'example-token-of-no-mail',
  'MeReply.token': null,
  code: '123456',
  'SecondFactorRejection.error': 'this account has a second factor: send its code',
};
