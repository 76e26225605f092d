/** The role of a member: a select for users who can change it, otherwise text. */
import { NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { type Role, useMe } from '../../api/session.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { assignableRoles } from './role-permissions.js';

interface RoleSelectProps {
  readonly member: {
    readonly userId: string;
    readonly email: string;
    readonly role: Role;
    readonly status: 'active' | 'invited';
  };
  /** Why the role cannot change; null: it can. */
  readonly disabledReason: string | null;
  readonly onChanged: () => void;
}

export function MemberRoleSelect({ member, disabledReason, onChanged }: RoleSelectProps) {
  const { userId, email, role, status } = member;
  const roles = assignableRoles(useMe().data?.role ?? 'viewer');
  const change = useMutation({
    mutationFn: (next: Role) =>
      api.patch('/v1/members/{userId}', { params: { path: { userId } }, body: { role: next } }),
    onSuccess: (_, next) => {
      onChanged();
      showToast(`${email} is now ${next}`);
    },
    onError: showErrorToast,
  });
  if (!roles.includes(role) || disabledReason !== null) return <span title={disabledReason ?? undefined}>{role}</span>;
  return (
    <NativeSelect
      size="xs"
      w={110}
      aria-label={`Role of ${email}${status === 'invited' ? ', invited' : ''}`}
      data={[...roles]}
      value={change.isPending ? change.variables : role}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.currentTarget.value as Role)}
    />
  );
}
