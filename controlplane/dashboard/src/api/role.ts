/** What the signed-in user may do. The server decides; this says it before somebody clicks. */
import type { Role } from './session.js';
import { useMe } from './session.js';

const ROLES: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];

/** Null: allowed; else why not, as a sentence. */
export function useWhyNot(needed: Role): string | null {
  const role = useMe().data?.role ?? 'viewer';
  if (ROLES.indexOf(role) >= ROLES.indexOf(needed)) return null;
  return `This needs the role ${needed}; yours is ${role}. An owner of the organization can change it.`;
}
