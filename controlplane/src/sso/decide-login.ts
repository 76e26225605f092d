/**
 * Decides what an answer of an organization's provider allows. Pure. The provider's word counts for its own `sub` only:
 * an address never links to an account that exists, and creates one only in a domain that the organization verified.
 */
import type { Role } from '../http/route-access.js';

export interface ProviderClaims {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; null: the provider sent none. */
  readonly email: string | null;
  /** Null: the provider does not say. */
  readonly emailVerified: boolean | null;
  readonly name: string | null;
}

interface LoginFacts {
  readonly claims: ProviderClaims;
  /** The user who is linked to this `sub` of this issuer; null: none yet. */
  readonly linkedUserId: string | null;
  /** That user is a member. */
  readonly isMember: boolean;
  /** The organization has verified the domain of the address. */
  readonly isDomainVerified: boolean;
  /** The account with that address; null: none. */
  readonly accountId: string | null;
  /** Of new members; null: they need an invitation. */
  readonly defaultRole: Role | null;
}

export type SsoRejection = 'removed' | 'email_missing' | 'email_unverified' | 'domain_unverified' | 'not_invited';

type SsoDecision =
  | { readonly kind: 'open'; readonly userId: string }
  /** The account must be proven by its own login first. */
  | { readonly kind: 'prove_account'; readonly userId: string }
  | { readonly kind: 'create'; readonly email: string; readonly role: Role }
  | { readonly kind: 'reject'; readonly reason: SsoRejection };

const reject = (reason: SsoRejection): SsoDecision => ({ kind: 'reject', reason });

export function decideSsoLogin(facts: LoginFacts): SsoDecision {
  const { claims, linkedUserId, isMember, isDomainVerified, accountId, defaultRole } = facts;
  if (linkedUserId !== null) return isMember ? { kind: 'open', userId: linkedUserId } : reject('removed');
  if (claims.email === null) return reject('email_missing');
  if (claims.emailVerified === false) return reject('email_unverified');
  if (!isDomainVerified) return reject('domain_unverified');
  if (accountId !== null) return { kind: 'prove_account', userId: accountId };
  if (defaultRole === null) return reject('not_invited');
  return { kind: 'create', email: claims.email, role: defaultRole };
}

/** What the person can do, as sentences for the page. */
export const SSO_REJECTION_ADVICE: Readonly<Record<SsoRejection, string>> = {
  removed: 'You are no longer a member of this organization. Ask one of its administrators for an invitation.',
  email_missing: 'Your identity provider sent no e-mail address. Ask its administrator to release the claim “email”.',
  email_unverified: 'Your identity provider says that your e-mail address is not verified. Verify it there first.',
  domain_unverified:
    'The domain of your e-mail address is not verified by this organization. Ask one of its administrators to add it.',
  not_invited: 'This organization admits people by invitation only. Ask one of its administrators for an invitation.',
};
