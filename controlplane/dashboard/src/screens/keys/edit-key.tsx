/** Changes what a key is called and when it ends; what it may stays. */
import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { NameInput } from '../../parts/name-input.js';
import { type Key, refreshKeys } from './key-list.js';

interface EditKeyProps {
  readonly edited: Key;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => void;
}

const MINUTE_CHARS = 16;

/** As an input of local time has it. */
function localOf(iso: string | null): string {
  if (iso === null) return '';
  const at = new Date(iso);
  at.setMinutes(at.getMinutes() - at.getTimezoneOffset());
  return at.toISOString().slice(0, MINUTE_CHARS);
}

const LABELS = { name: 'Name', expiresAt: 'End' };

export function EditKey({ edited, onClose, onSaved }: EditKeyProps) {
  const before = localOf(edited.expiresAt);
  const [name, setName] = useDraft(`key ${edited.id} name`, edited.name);
  const [ends, setEnds] = useDraft(`key ${edited.id} end`, before);
  const save = useMutation({
    mutationFn: () => {
      const expiresAt = ends === '' ? null : new Date(ends).toISOString();
      const body = { name: name.trim(), ...(ends === before ? {} : { expiresAt }) };
      return api.patch('/v1/api-keys/{id}', { params: { path: { id: edited.id } }, body });
    },
    onSuccess: ({ key }) => {
      refreshKeys();
      onSaved(key.name);
    },
  });
  const problem = formProblem(save.error, LABELS);
  return (
    <FormDialog
      title={`Edit ${edited.name}`}
      problem={problem}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      onClose={onClose}
    >
      <NameInput error={problem.at('name')} value={name} onChange={setName} />
      <TextInput
        label="Ends"
        error={problem.at('expiresAt')}
        description="Your local time. Empty: it does not end by itself."
        type="datetime-local"
        value={ends}
        onChange={(event) => setEnds(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
