/** The roles, lowest first, and what each adds. */
import type { Role } from '../../api/session.js';

export const ROLES: readonly { readonly role: Role; readonly may: string }[] = [
  { role: 'viewer', may: 'Sees agents, providers, usage and calls. Changes nothing.' },
  { role: 'member', may: 'Also changes agents and their limits, and sends failed webhook deliveries again.' },
  { role: 'admin', may: 'Also makes agents, keys and projects, holds provider credentials, webhooks and members.' },
  { role: 'owner', may: 'Also makes other owners and deletes the organization.' },
];

/** Roles that somebody of that role may give. */
export const assignableRoles = (own: Role): readonly Role[] =>
  ROLES.map(({ role }) => role).filter((role) => own === 'owner' || (own === 'admin' && role !== 'owner'));
