/** Changes the name and the description of an agent. Its id and its slug stay, so no client has to change. */
import { Text, Textarea } from '@mantine/core';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { type Agent, useUpdateAgent } from '../../resources/agent-account-and-key-hooks.js';

const LABELS = { name: 'Name', description: 'Description' };

export function EditAgentDialog({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) {
  const change = useUpdateAgent(agent.id);
  const [draft, setDraft] = useFormDraft(`edit agent ${agent.id}`, {
    name: agent.name,
    description: agent.description,
  });
  const errors = formErrors(change.error, LABELS);
  return (
    <FormDialog
      title={`Edit ${agent.name}`}
      errors={errors}
      action="Save"
      pending={change.isPending}
      disabled={draft.name.trim() === ''}
      onClose={onClose}
      onSubmit={() =>
        change.mutate(
          { name: draft.name.trim(), description: draft.description },
          {
            onSuccess: () => {
              showToast('Agent saved');
              onClose();
            },
          },
        )
      }
    >
      <NameInput
        value={draft.name}
        onChange={(name) => setDraft({ ...draft, name })}
        error={errors.fieldError('name')}
        autoFocus
      />
      <Textarea
        label="Description (optional)"
        rows={3}
        value={draft.description}
        onChange={(event) => setDraft({ ...draft, description: event.currentTarget.value })}
        error={errors.fieldError('description')}
      />
      <Text size="sm" c="dimmed">
        The slug {agent.slug} stays.
      </Text>
    </FormDialog>
  );
}
