/** Creates a project, or edits its name and budget. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { centsToDollarInput, dollarInputToCents } from '../../format/format.js';

const LABELS = { name: 'Name', budgetCentsMonthly: 'Monthly budget' };

interface ProjectDialogProps {
  /** Null: a new project. */
  readonly project: { readonly id: string; readonly name: string; readonly budgetCentsMonthly: number | null } | null;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => void;
}

export function ProjectDialog({ project, onClose, onSaved }: ProjectDialogProps) {
  const id = project?.id ?? 'new';
  const [name, setName] = useFormDraft(`project ${id} name`, project?.name ?? '');
  const before = project?.budgetCentsMonthly ?? null;
  const [budget, setBudget] = useFormDraft<number | string>(`project ${id} budget`, centsToDollarInput(before));
  // Saving the budget may fail after the project was created: a retry updates that project and creates no second one.
  const [created, setCreated] = useFormDraft(`project ${id} made`, project);
  const save = useMutation({
    mutationFn: async () => {
      const cents = dollarInputToCents(budget);
      const saved = created ?? (await api.post('/v1/projects', { body: { name: name.trim() } })).project;
      setCreated(saved);
      const body = {
        ...(name.trim() === saved.name ? {} : { name: name.trim() }),
        ...(cents === before ? {} : { budgetCentsMonthly: cents }),
      };
      if (Object.keys(body).length > 0)
        await api.patch('/v1/projects/{id}', { params: { path: { id: saved.id } }, body });
    },
    onSuccess: () => onSaved(name.trim()),
  });
  const errors = formErrors(save.error, LABELS);
  return (
    <FormDialog
      title={project === null ? 'New project' : 'Edit project'}
      errors={errors}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      onClose={onClose}
    >
      <NameInput error={errors.fieldError('name')} value={name} onChange={setName} />
      <BudgetAmountInput
        label="Monthly budget (USD)"
        error={errors.fieldError('budgetCentsMonthly')}
        description="Shared by all agents of the project. Calls over it are rejected. Empty: no budget."
        value={budget}
        onChange={setBudget}
      />
    </FormDialog>
  );
}
