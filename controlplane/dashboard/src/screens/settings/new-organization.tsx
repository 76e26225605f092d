/** Another organization of one's own, with its own agents, members and bill; the session goes over to it. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { useSwitchOrganization } from '../../api/session.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { NameInput } from '../../parts/name-input.js';

interface NewOrganizationProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function NewOrganization({ opened, onClose }: NewOrganizationProps) {
  const [name, setName] = useDraft('new organization name', '');
  const switchTo = useSwitchOrganization();
  // The session may fail to go over after it was made: another try makes none besides it.
  const [made, setMade] = useDraft<string | null>('new organization made', null);
  const create = useMutation({
    mutationFn: async () => {
      const id = made ?? (await api.post('/v1/orgs', { body: { name: name.trim() } })).org.id;
      setMade(id);
      await switchTo.mutateAsync(id);
    },
  });
  const problem = formProblem(create.error, { name: 'Name' });
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
        error={problem.at('name')}
        maxLength={80}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
