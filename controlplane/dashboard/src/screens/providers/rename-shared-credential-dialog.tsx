/** Renames a shared credential. Its secret and its agents stay. */
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { type SharedCredential, useRenameSharedCredential } from '../../resources/shared-credential-hooks.js';

interface RenameSharedCredentialDialogProps {
  readonly credential: SharedCredential;
  readonly onClose: () => void;
}

export function RenameSharedCredentialDialog({ credential, onClose }: RenameSharedCredentialDialogProps) {
  const rename = useRenameSharedCredential(credential.id);
  const [name, setName] = useFormDraft(`rename credential ${credential.id}`, credential.name);
  const errors = formErrors(rename.error, { name: 'Name' });
  return (
    <FormDialog
      title={`Rename ${credential.name}`}
      errors={errors}
      action="Save"
      pending={rename.isPending}
      disabled={name.trim() === ''}
      onClose={onClose}
      onSubmit={() =>
        rename.mutate(name.trim(), {
          onSuccess: () => {
            showToast('Credential renamed');
            onClose();
          },
        })
      }
    >
      <NameInput value={name} onChange={setName} error={errors.fieldError('name')} />
    </FormDialog>
  );
}
