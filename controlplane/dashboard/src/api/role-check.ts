/** What the signed-in user's role allows. The server decides; the screens show it before the click. */
import type { Role } from './session.js';
import { useMe } from './session.js';

const ROLES_ASCENDING: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];

/** Null: allowed; otherwise the reason as a sentence. */
export function useMissingRoleReason(requiredRole: Role): string | null {
  const role = useMe().data?.role ?? 'viewer';
  if (ROLES_ASCENDING.indexOf(role) >= ROLES_ASCENDING.indexOf(requiredRole)) return null;
  return `This requires the role ${requiredRole}. Your role is ${role}. An organization owner can change it.`;
}
