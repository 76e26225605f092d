/** Invites somebody by e-mail. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { type Role, useConfig, useMe } from '../../api/session.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { givenBy, ROLES } from './roles.js';

interface InviteProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** `url`: for the inviter to pass on, while mails stay on the gateway's machine. */
  readonly onInvited: (url: string | null, email: string) => void;
}

export function Invite({ opened, onClose, onInvited }: InviteProps) {
  const [email, setEmail] = useDraft('invite email', '');
  const [role, setRole] = useDraft<Role>('invite role', 'member');
  const config = useConfig().data;
  const roles = givenBy(useMe().data?.role ?? 'viewer');
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
  const problem = formProblem(invite.error, { email: 'E-mail', role: 'Role' });
  return (
    <FormDialog
      opened={opened}
      title="Invite somebody"
      problem={problem}
      onSubmit={() => invite.mutate()}
      action="Invite"
      pending={invite.isPending}
      onClose={onClose}
    >
      <TextInput
        label="E-mail"
        error={problem.at('email')}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        description={
          config?.mail === 'outbox' ? 'No mail leaves this gateway: you get the link and pass it on.' : undefined
        }
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NativeSelect
        label="Role"
        error={problem.at('role')}
        description={what}
        data={[...roles]}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
      />
    </FormDialog>
  );
}
