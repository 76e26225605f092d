import { expect, test } from 'vitest';
import { formatGroupRoles, parseGroupRoles } from './group-roles-text.js';

test('roles of groups: text and back; the last colon counts, blank lines do not', () => {
  const groupRoles = [
    { group: 'Engineering', role: 'member' },
    { group: 'urn:group: admins', role: 'admin' },
  ] as const;
  expect(formatGroupRoles(groupRoles)).toBe('Engineering: member\nurn:group: admins: admin');
  expect(parseGroupRoles(`\n ${formatGroupRoles(groupRoles)}\n\n`)).toEqual(groupRoles);
  expect(parseGroupRoles('no role')).toEqual([{ group: 'no role', role: '' }]);
});
