/** The role of a member: a choice for those who may change it, a word for others. */
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
  /** Why this one cannot change. */
  readonly disabledReason: string | null;
  readonly onChanged: () => void;
}

export function RoleSelect({ member, disabledReason: whyNot, onChanged }: RoleSelectProps) {
  const { userId, email, role, status } = member;
  const roles = assignableRoles(useMe().data?.role ?? 'viewer');
  const change = useMutation({
    mutationFn: (next: Role) =>
      api.patch('/v1/members/{userId}', { params: { path: { userId } }, body: { role: next } }),
    onSuccess: (_, next) => {
      onChanged();
      showToast(`${email} is ${next} now`);
    },
    onError: showErrorToast,
  });
  if (!roles.includes(role) || whyNot !== null) return <span title={whyNot ?? undefined}>{role}</span>;
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
