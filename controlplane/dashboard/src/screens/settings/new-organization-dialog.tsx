/** Another organization of one's own, with its own agents, members and bill; the session goes over to it. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts.js';
import { useSwitchOrganization } from '../../api/session.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/form-errors.js';
import { NameInput } from '../../components/forms/name-input.js';

interface NewOrganizationDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewOrganizationDialog({ opened, onClose }: NewOrganizationDialogProps) {
  const [name, setName] = useFormDraft('new organization name', '');
  const switchTo = useSwitchOrganization();
  // The session may fail to go over after it was made: another try makes none besides it.
  const [createdOrgId, setCreatedOrgId] = useFormDraft<string | null>('new organization made', null);
  const create = useMutation({
    mutationFn: async () => {
      const id = createdOrgId ?? (await api.post('/v1/orgs', { body: { name: name.trim() } })).org.id;
      setCreatedOrgId(id);
      await switchTo.mutateAsync(id);
    },
  });
  const problem = formErrors(create.error, { name: 'Name' });
  return (
    <FormDialog
      title="New organization"
      opened={opened}
      problem={problem}
      onSubmit={() => create.mutate()}
      action="Make it and go there"
      pending={create.isPending}
      disabled={name.trim() === ''}
      onClose={onClose}
    >
      <NameInput
        description="It has its own agents, members, credentials and bill; you are its owner."
        error={problem.fieldError('name')}
        maxLength={80}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
