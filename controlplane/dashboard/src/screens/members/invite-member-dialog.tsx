/** Invites a member by e-mail. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { type Role, useConfig, useMe } from '../../api/session.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { assignableRoles, ROLES } from './role-permissions.js';

interface InviteMemberDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** `url`: the link to pass on when the gateway sends no e-mail; otherwise null. */
  readonly onInvited: (url: string | null, email: string) => void;
}

export function InviteMemberDialog({ opened, onClose, onInvited }: InviteMemberDialogProps) {
  const [email, setEmail] = useFormDraft('invite email', '');
  const [role, setRole] = useFormDraft<Role>('invite role', 'member');
  const config = useConfig().data;
  const roles = assignableRoles(useMe().data?.role ?? 'viewer');
  const invite = useMutation({
    mutationFn: () => api.post('/v1/members', { body: { email, role } }),
    gcTime: 0,
    onSuccess: ({ invitationUrl }) => {
      onInvited(invitationUrl, email);
      setEmail('');
      invite.reset();
    },
  });
  const what = ROLES.find((one) => one.role === role)?.may;
  const errors = formErrors(invite.error, { email: 'E-mail', role: 'Role' });
  return (
    <FormDialog
      opened={opened}
      title="Invite member"
      errors={errors}
      onSubmit={() => invite.mutate()}
      action="Send invitation"
      pending={invite.isPending}
      onClose={onClose}
    >
      <TextInput
        label="E-mail"
        error={errors.fieldError('email')}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        description={config?.mail === 'outbox' ? 'This gateway sends no e-mail: you get a link to share.' : undefined}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NativeSelect
        label="Role"
        error={errors.fieldError('role')}
        description={what}
        data={[...roles]}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
      />
    </FormDialog>
  );
}
