/** Creates a management token. */
import { NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { expiryInDays, LifetimeSelect } from '../../components/forms/lifetime-select.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';

const ROLES = ['viewer', 'member', 'admin'] as const;

const LABELS = { name: 'Name', role: 'Role', expiresAt: 'Expiration' };

interface NewManagementTokenDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (secret: string) => void;
}

export function NewManagementTokenDialog({ onClose, onCreated }: NewManagementTokenDialogProps) {
  const [name, setName] = useFormDraft('new token name', '');
  const [role, setRole] = useFormDraft<(typeof ROLES)[number]>('new token role', 'viewer');
  const [days, setDays] = useFormDraft('new token days', '90');
  const create = useMutation({
    mutationFn: () => {
      const expiresAt = expiryInDays(days);
      const body = { name, role, ...(expiresAt === null ? {} : { expiresAt }) };
      return api.post('/v1/management-tokens', { body });
    },
    gcTime: 0,
    onSuccess: ({ secretToken }) => onCreated(secretToken),
  });
  const errors = formErrors(create.error, LABELS);
  return (
    <FormDialog
      title="New management token"
      errors={errors}
      onSubmit={() => create.mutate()}
      action="Create token"
      pending={create.isPending}
      onClose={onClose}
    >
      <NameInput error={errors.fieldError('name')} placeholder="ci" value={name} onChange={setName} />
      <NativeSelect
        label="Role"
        error={errors.fieldError('role')}
        data={[...ROLES]}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as (typeof ROLES)[number])}
      />
      <LifetimeSelect value={days} onChange={setDays} error={errors.fieldError('expiresAt')} />
    </FormDialog>
  );
}
