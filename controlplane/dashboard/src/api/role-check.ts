/** What the signed-in user may do. The server decides; this says it before somebody clicks. */
import type { Role } from './session.js';
import { useMe } from './session.js';

const ROLES_ASCENDING: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];

/** Null: allowed; else why not, as a sentence. */
export function useMissingRoleReason(requiredRole: Role): string | null {
  const role = useMe().data?.role ?? 'viewer';
  if (ROLES_ASCENDING.indexOf(role) >= ROLES_ASCENDING.indexOf(requiredRole)) return null;
  return `This needs the role ${requiredRole}; yours is ${role}. An owner of the organization can change it.`;
}
