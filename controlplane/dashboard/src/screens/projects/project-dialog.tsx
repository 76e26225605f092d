/** Makes a project, or changes its name and budget. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { toCents, typedDollars } from '../../format/format.js';
import { BudgetInput } from '../../parts/budget-input.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { NameInput } from '../../parts/name-input.js';

const LABELS = { name: 'Name', budgetCentsMonthly: 'Budget' };

interface ProjectDialogProps {
  /** Null: a new one. */
  readonly project: { readonly id: string; readonly name: string; readonly budgetCentsMonthly: number | null } | null;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => void;
}

export function ProjectDialog({ project, onClose, onSaved }: ProjectDialogProps) {
  const id = project?.id ?? 'new';
  const [name, setName] = useDraft(`project ${id} name`, project?.name ?? '');
  const before = project?.budgetCentsMonthly ?? null;
  const [budget, setBudget] = useDraft<number | string>(`project ${id} budget`, typedDollars(before));
  // Its budget may fail after it was made: another try is about that one, and makes none besides it.
  const [made, setMade] = useDraft(`project ${id} made`, project);
  const save = useMutation({
    mutationFn: async () => {
      const cents = toCents(budget);
      const saved = made ?? (await api.post('/v1/projects', { body: { name: name.trim() } })).project;
      setMade(saved);
      const body = {
        ...(name.trim() === saved.name ? {} : { name: name.trim() }),
        ...(cents === before ? {} : { budgetCentsMonthly: cents }),
      };
      if (Object.keys(body).length > 0)
        await api.patch('/v1/projects/{id}', { params: { path: { id: saved.id } }, body });
    },
    onSuccess: () => onSaved(name.trim()),
  });
  const problem = formProblem(save.error, LABELS);
  return (
    <FormDialog
      title={project === null ? 'New project' : 'Edit project'}
      problem={problem}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      onClose={onClose}
    >
      <NameInput error={problem.at('name')} value={name} onChange={setName} />
      <BudgetInput
        label="Budget a month in dollars"
        error={problem.at('budgetCentsMonthly')}
        description="For all its agents together; calls above it are refused. Empty: no budget."
        value={budget}
        onChange={setBudget}
      />
    </FormDialog>
  );
}
