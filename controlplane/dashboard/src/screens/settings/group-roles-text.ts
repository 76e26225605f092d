/** Roles of groups as text, one per line: `Engineering: member`. */
interface GroupRole {
  readonly group: string;
  readonly role: 'viewer' | 'member' | 'admin';
}

export const formatGroupRoles = (groupRoles: readonly GroupRole[]): string =>
  groupRoles.map(({ group, role }) => `${group}: ${role}`).join('\n');

/** The last colon separates the role, because names of groups may have colons. The server checks the roles. */
export function parseGroupRoles(text: string): GroupRole[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.map((line) => {
    const at = line.lastIndexOf(':');
    const [group, role] = at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    return { group, role: role as GroupRole['role'] };
  });
}
