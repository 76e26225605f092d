/**
 * Decides what an answer of an organization's provider allows. Pure. The provider's word counts for its own `sub` only:
 * an address never links to an account that exists, and creates one only in a domain that the organization verified.
 * Groups give roles up to admin. A missing claim is not "no groups": Entra ID leaves it out above 200 groups.
 */
import { isRoleAtLeast, type Role } from '../http/route-access.js';

export interface ProviderClaims {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; null: the provider sent none. */
  readonly email: string | null;
  /** Null: the provider does not say. */
  readonly emailVerified: boolean | null;
  readonly name: string | null;
  /** Null: the provider did not send them. */
  readonly groups: readonly string[] | null;
}

export type GroupRole = { readonly group: string; readonly role: 'viewer' | 'member' | 'admin' };

interface LoginFacts {
  readonly claims: ProviderClaims;
  /** The user who is linked to this `sub` of this issuer; null: none yet. */
  readonly linkedUserId: string | null;
  /** The role of that user; null: no member. */
  readonly memberRole: Role | null;
  /** The organization has verified the domain of the address. */
  readonly isDomainVerified: boolean;
  /** The account with that address; null: none. */
  readonly accountId: string | null;
  /** The role of that account; null: no member. */
  readonly accountRole: Role | null;
  /** Of new members; null: they need an invitation. */
  readonly defaultRole: Role | null;
  /** Empty: groups decide nothing. */
  readonly groupRoles: readonly GroupRole[];
  /** The role of an open invitation to that address; null: none. */
  readonly invitedRole: Role | null;
  /**
   * What the directory says of a person who has not joined: `active` admits, `inactive` rejects; null: it does not know
   * the address.
   */
  readonly directory: 'active' | 'inactive' | null;
}

export type SsoRejection =
  | 'removed'
  | 'email_missing'
  | 'email_unverified'
  | 'domain_unverified'
  | 'not_invited'
  | 'no_mapped_group'
  | 'groups_missing'
  | 'deactivated';

type SsoDecision =
  /** `role`: the new role of the member; null: as before. */
  | { readonly kind: 'open'; readonly userId: string; readonly role: Role | null }
  /** The linked account joins again. */
  | { readonly kind: 'rejoin'; readonly userId: string; readonly role: Role }
  /** The account must be proven by its own login first; then it joins with that role. Null: it is a member already. */
  | { readonly kind: 'prove_account'; readonly userId: string; readonly role: Role | null }
  | { readonly kind: 'create'; readonly email: string; readonly role: Role }
  | { readonly kind: 'reject'; readonly reason: SsoRejection };

const reject = (reason: SsoRejection): SsoDecision => ({ kind: 'reject', reason });

export function decideSsoLogin(facts: LoginFacts): SsoDecision {
  const { claims, linkedUserId, memberRole, isDomainVerified, accountId, accountRole, directory } = facts;
  if (linkedUserId !== null && memberRole !== null) return openAsMember(facts, linkedUserId, memberRole);
  if (linkedUserId !== null && facts.invitedRole === null && directory !== 'active') return reject('removed');
  if (claims.email === null) return reject('email_missing');
  if (claims.emailVerified === false) return reject('email_unverified');
  if (!isDomainVerified) return reject('domain_unverified');
  if (directory === 'inactive') return reject('deactivated');
  if (linkedUserId === null && accountId !== null && accountRole !== null) {
    const decision = openAsMember(facts, accountId, accountRole);
    return decision.kind === 'reject' ? decision : { kind: 'prove_account', userId: accountId, role: null };
  }
  const role = roleOfNewMember(facts);
  if (typeof role !== 'string') return role;
  if (linkedUserId !== null) return { kind: 'rejoin', userId: linkedUserId, role };
  if (accountId !== null) return { kind: 'prove_account', userId: accountId, role };
  return { kind: 'create', email: claims.email, role };
}

/** Owners keep their role, whatever the groups are. */
function openAsMember(facts: LoginFacts, userId: string, memberRole: Role): SsoDecision {
  const mapped = roleOfGroups(facts);
  if (memberRole === 'owner' || mapped === 'unknown') return { kind: 'open', userId, role: null };
  const role = mapped ?? facts.defaultRole;
  if (role === null) return reject('no_mapped_group');
  return { kind: 'open', userId, role: role === memberRole ? null : role };
}

function roleOfNewMember(facts: LoginFacts): Role | SsoDecision {
  const { defaultRole, invitedRole, directory } = facts;
  const mapped = roleOfGroups(facts);
  if (mapped === null) return defaultRole ?? reject('no_mapped_group');
  if (mapped !== 'unknown') return mapped;
  const role = invitedRole ?? defaultRole ?? (directory === 'active' ? 'viewer' : null);
  if (role !== null) return role;
  return reject(facts.groupRoles.length > 0 ? 'groups_missing' : 'not_invited');
}

/** The highest role of the groups; null: none of them has a role; `unknown`: groups decide nothing or were not sent. */
function roleOfGroups({ claims: { groups }, groupRoles }: LoginFacts): GroupRole['role'] | null | 'unknown' {
  return groupRoles.length === 0 || groups === null ? 'unknown' : highestRole(groups, groupRoles);
}

/** Returns null when none of the groups has a role. */
function highestRole(groups: readonly string[], groupRoles: readonly GroupRole[]): GroupRole['role'] | null {
  const names = new Set(groups);
  let highest: GroupRole['role'] | null = null;
  for (const { group, role } of groupRoles)
    if (names.has(group) && (highest === null || isRoleAtLeast(role, highest))) highest = role;
  return highest;
}

/** What the person can do, as sentences for the page. */
export const SSO_REJECTION_ADVICE: Readonly<Record<SsoRejection, string>> = {
  removed: 'You are no longer a member of this organization. Ask one of its administrators for an invitation.',
  email_missing: 'Your identity provider sent no e-mail address. Ask its administrator to release the claim “email”.',
  email_unverified: 'Your identity provider says that your e-mail address is not verified. Verify it there first.',
  domain_unverified:
    'The domain of your e-mail address is not verified by this organization. Ask one of its administrators to add it.',
  not_invited: 'This organization admits people by invitation only. Ask one of its administrators for an invitation.',
  no_mapped_group:
    'None of your groups at the identity provider has a role in this organization. Ask an administrator of the identity provider to add you to a group that has one.',
  groups_missing:
    'Your identity provider did not send your groups, so your role is unknown. Ask its administrator to release the groups claim, limited to the groups of this application.',
  deactivated:
    'The directory of this organization has deactivated you. Ask an administrator of the directory to assign you again.',
};
