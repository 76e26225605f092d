import { expect, test } from 'vitest';
import { decideSsoLogin, type GroupRole, SSO_REJECTION_ADVICE } from './decide-login.js';

const CLAIMS = {
  issuer: 'https://idp.example.com',
  subject: 'ada',
  email: 'ada@example.com',
  emailVerified: true,
  name: null,
  groups: null,
};
const FACTS: Parameters<typeof decideSsoLogin>[0] = {
  claims: CLAIMS,
  linkedUserId: null,
  memberRole: null,
  isDomainVerified: true,
  accountId: null,
  accountRole: null,
  defaultRole: null,
  groupRoles: [],
  invitedRole: null,
  directory: null,
};
const GROUPS: readonly GroupRole[] = [
  { group: 'staff', role: 'viewer' },
  { group: 'admins', role: 'admin' },
  { group: 'engineers', role: 'member' },
];
const withGroups = (groups: readonly string[] | null) => ({ claims: { ...CLAIMS, groups }, groupRoles: GROUPS });
const decide = (more: Partial<typeof FACTS>) => decideSsoLogin({ ...FACTS, ...more });
const rejected = (reason: keyof typeof SSO_REJECTION_ADVICE) => ({ kind: 'reject', reason });

test('a new person joins with the default role, the invited role or as viewer of the directory, in this order of weight', () => {
  expect(decide({ defaultRole: 'member' })).toEqual({ kind: 'create', email: 'ada@example.com', role: 'member' });
  expect(decide({ defaultRole: 'member', invitedRole: 'admin' })).toMatchObject({ kind: 'create', role: 'admin' });
  expect(decide({ directory: 'active' })).toMatchObject({ kind: 'create', role: 'viewer' });
  expect(decide({ directory: 'active', defaultRole: 'member' })).toMatchObject({ role: 'member' });
  expect(decide({})).toEqual(rejected('not_invited'));
});

test('an account that exists is proven first, whatever the groups, the invitation or the directory say', () => {
  for (const more of [
    { defaultRole: 'admin' as const },
    { invitedRole: 'admin' as const },
    { directory: 'active' as const },
    withGroups(['admins']),
  ])
    expect(decide({ accountId: 'user', ...more })).toMatchObject({ kind: 'prove_account', userId: 'user' });
});

test('a member needs no invitation to connect the account, and no other role than a member gets', () => {
  const member = { accountId: 'user', accountRole: 'viewer' as const };
  const proven = { kind: 'prove_account', userId: 'user', role: null };
  expect(decide(member)).toEqual(proven);
  expect(decide({ ...member, defaultRole: 'admin' })).toEqual(proven);
  expect(decide({ ...member, ...withGroups(['admins']) })).toEqual(proven);
  expect(decide({ ...member, ...withGroups(null) })).toEqual(proven);
  expect(decide({ ...member, ...withGroups(['other']) })).toEqual(rejected('no_mapped_group'));
  expect(decide({ ...member, ...withGroups(['other']), accountRole: 'owner' })).toEqual(proven);
  // All checks of the address apply.
  expect(decide({ ...member, isDomainVerified: false })).toEqual(rejected('domain_unverified'));
  expect(decide({ ...member, directory: 'inactive' })).toEqual(rejected('deactivated'));
  // The membership of another account with the address is no reason to come back.
  const removed = { ...member, linkedUserId: 'removed', invitedRole: 'member' as const };
  expect(decide(removed)).toEqual({ kind: 'rejoin', userId: 'removed', role: 'member' });
});

test('the address must be there, verified, and in a verified domain', () => {
  expect(decide({ claims: { ...CLAIMS, email: null }, defaultRole: 'viewer' })).toEqual(rejected('email_missing'));
  expect(decide({ claims: { ...CLAIMS, emailVerified: false }, defaultRole: 'viewer' })).toEqual(
    rejected('email_unverified'),
  );
  expect(decide({ claims: { ...CLAIMS, emailVerified: null }, defaultRole: 'viewer' }).kind).toBe('create');
  expect(decide({ isDomainVerified: false, defaultRole: 'viewer' })).toEqual(rejected('domain_unverified'));
});

test('groups: the highest role counts, names are exact, none of them is the default role or a rejection', () => {
  expect(decide(withGroups(['staff', 'admins', 'engineers']))).toMatchObject({ kind: 'create', role: 'admin' });
  expect(decide(withGroups(['engineers', 'staff']))).toMatchObject({ role: 'member' });
  expect(decide(withGroups(['Admins', 'other']))).toEqual(rejected('no_mapped_group'));
  expect(decide({ ...withGroups(['other']), defaultRole: 'viewer' })).toMatchObject({ role: 'viewer' });
  expect(decide({ ...withGroups([]), invitedRole: 'admin', directory: 'active' })).toEqual(rejected('no_mapped_group'));
  const many = Array.from({ length: 2_000 }, (_, n) => `group-${n}`);
  expect(decide(withGroups([...many, 'engineers']))).toMatchObject({ role: 'member' });
});

test('a missing claim is not "no groups": members keep their role, new people need another reason to join', () => {
  const member = { linkedUserId: 'user', memberRole: 'admin' as const };
  expect(decide({ ...withGroups(null), ...member })).toEqual({ kind: 'open', userId: 'user', role: null });
  expect(decide(withGroups(null))).toEqual(rejected('groups_missing'));
  expect(decide({ ...withGroups(null), invitedRole: 'member' })).toMatchObject({ kind: 'create', role: 'member' });
  expect(decide({ ...withGroups(null), defaultRole: 'viewer' })).toMatchObject({ role: 'viewer' });
});

test('members get the role of their groups at each login; owners keep theirs, also without a mapped group', () => {
  const member = { linkedUserId: 'user', memberRole: 'admin' as const };
  expect(decide({ ...withGroups(['staff']), ...member })).toEqual({ kind: 'open', userId: 'user', role: 'viewer' });
  expect(decide({ ...withGroups(['admins']), ...member })).toEqual({ kind: 'open', userId: 'user', role: null });
  expect(decide({ ...withGroups(['x']), ...member })).toEqual(rejected('no_mapped_group'));
  expect(decide({ ...withGroups(['x']), ...member, defaultRole: 'member' })).toMatchObject({ role: 'member' });
  expect(decide({ ...withGroups(['x']), ...member, memberRole: 'owner' })).toMatchObject({ kind: 'open', role: null });
  expect(decide({ ...withGroups(['staff']), ...member, memberRole: 'owner' })).toMatchObject({ role: null });
  // Without groups the address and the domain no longer matter.
  expect(decide({ ...member, isDomainVerified: false, claims: { ...CLAIMS, email: null } })).toMatchObject({
    kind: 'open',
    role: null,
  });
});

test('a removed person comes back by an invitation or the directory only, and through all checks', () => {
  const removed = { linkedUserId: 'user', defaultRole: 'member' as const };
  expect(decide(removed)).toEqual(rejected('removed'));
  expect(decide({ ...removed, directory: 'inactive' })).toEqual(rejected('removed'));
  expect(decide({ ...removed, invitedRole: 'viewer' })).toEqual({ kind: 'rejoin', userId: 'user', role: 'viewer' });
  expect(decide({ ...removed, directory: 'active' })).toEqual({ kind: 'rejoin', userId: 'user', role: 'member' });
  expect(decide({ ...removed, invitedRole: 'viewer', isDomainVerified: false })).toEqual(rejected('domain_unverified'));
  expect(decide({ ...removed, invitedRole: 'viewer', directory: 'inactive' })).toEqual(rejected('deactivated'));
});

test('a person that the directory has deactivated does not join', () => {
  expect(decide({ defaultRole: 'member', directory: 'inactive' })).toEqual(rejected('deactivated'));
  expect(decide({ accountId: 'user', defaultRole: 'member', directory: 'inactive' })).toEqual(rejected('deactivated'));
});

test('one group with a role decides as many do', () => {
  const groupRoles = [{ group: 'staff', role: 'member' as const }];
  const sent = (groups: readonly string[] | null) => ({ claims: { ...CLAIMS, groups }, groupRoles });
  expect(decide(sent(['staff']))).toMatchObject({ kind: 'create', role: 'member' });
  expect(decide(sent(['other']))).toEqual(rejected('no_mapped_group'));
  expect(decide(sent(null))).toEqual(rejected('groups_missing'));
});

test('each rejection has a sentence that says what to do', () => {
  for (const text of Object.values(SSO_REJECTION_ADVICE)) expect(text).toMatch(/(?:Ask|Verify) .+\.$/);
});
