/** The roles, lowest first, with the permissions that each adds. */
import type { Role } from '../../api/session.js';

export const ROLES: readonly { readonly role: Role; readonly may: string }[] = [
  { role: 'viewer', may: 'Can view agents, providers, usage and calls, and change nothing.' },
  { role: 'member', may: 'Can also edit agents and their limits, and retry failed webhook deliveries.' },
  {
    role: 'admin',
    may: 'Can also create agents, gateway tokens and projects, and manage provider credentials, webhooks and members.',
  },
  { role: 'owner', may: 'Can also appoint owners and delete the organization.' },
];

/** Roles that a member with the role `own` can assign. */
export const assignableRoles = (own: Role): readonly Role[] =>
  ROLES.map(({ role }) => role).filter((role) => own === 'owner' || (own === 'admin' && role !== 'owner'));
