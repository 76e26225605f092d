/** Edits the name and expiry of a gateway token; its scope cannot change. */
import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { formatTimeInput, parseTimeInput } from '../../format/format.js';
import { timeZoneUnit } from '../../format/time-zone.js';
import { type Key, refreshKeys } from './fetch-keys-and-describe-status.js';

interface EditKeyDialogProps {
  readonly editedKey: Key;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => void;
}

const LABELS = { name: 'Name', expiresAt: 'Expires' };

export function EditKeyDialog({ editedKey, onClose, onSaved }: EditKeyDialogProps) {
  const before = editedKey.expiresAt === null ? '' : formatTimeInput(new Date(editedKey.expiresAt));
  const [name, setName] = useFormDraft(`key ${editedKey.id} name`, editedKey.name);
  const [expiresAtInput, setExpiresAtInput] = useFormDraft(`key ${editedKey.id} end`, before);
  const save = useMutation({
    mutationFn: () => {
      const expiresAt = expiresAtInput === '' ? null : new Date(parseTimeInput(expiresAtInput)).toISOString();
      const body = { name: name.trim(), ...(expiresAtInput === before ? {} : { expiresAt }) };
      return api.patch('/v1/api-keys/{id}', { params: { path: { id: editedKey.id } }, body });
    },
    onSuccess: ({ key }) => {
      refreshKeys();
      onSaved(key.name);
    },
  });
  const errors = formErrors(save.error, LABELS);
  return (
    <FormDialog
      title={`Edit ${editedKey.name}`}
      errors={errors}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      onClose={onClose}
    >
      <NameInput error={errors.fieldError('name')} value={name} onChange={setName} />
      <TextInput
        label="Expires"
        error={errors.fieldError('expiresAt')}
        description={`${timeZoneUnit(Date.parse(editedKey.expiresAt ?? new Date().toISOString()))}. Empty: never expires.`}
        type="datetime-local"
        value={expiresAtInput}
        onChange={(event) => setExpiresAtInput(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
