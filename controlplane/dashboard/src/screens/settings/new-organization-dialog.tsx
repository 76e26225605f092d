/** Creates an organization of the user and switches the session to it. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useSwitchOrganization } from '../../api/session.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';

interface NewOrganizationDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewOrganizationDialog({ opened, onClose }: NewOrganizationDialogProps) {
  const [name, setName] = useFormDraft('new organization name', '');
  const switchTo = useSwitchOrganization();
  // Switching may fail after the organization was created: a retry creates no second one.
  const [createdOrgId, setCreatedOrgId] = useFormDraft<string | null>('new organization made', null);
  const create = useMutation({
    mutationFn: async () => {
      const id = createdOrgId ?? (await api.post('/v1/orgs', { body: { name: name.trim() } })).org.id;
      setCreatedOrgId(id);
      await switchTo.mutateAsync(id);
    },
  });
  const errors = formErrors(create.error, { name: 'Name' });
  return (
    <FormDialog
      title="New organization"
      opened={opened}
      errors={errors}
      onSubmit={() => create.mutate()}
      action="Create organization"
      pending={create.isPending}
      disabled={name.trim() === ''}
      onClose={onClose}
    >
      <NameInput
        description="Has its own agents, members, credentials and spend. You become its owner."
        error={errors.fieldError('name')}
        maxLength={80}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
