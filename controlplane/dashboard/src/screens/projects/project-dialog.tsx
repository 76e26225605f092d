/** Makes a project, or changes its name and budget. */
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api } from '../../api/api.js';
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
  const [name, setName] = useState(project?.name ?? '');
  const before = project?.budgetCentsMonthly ?? null;
  const [budget, setBudget] = useState<number | string>(typedDollars(before));
  // Its budget may fail after it was made: another try is about that one, and makes none besides it.
  const made = useRef(project);
  const save = useMutation({
    mutationFn: async () => {
      const cents = toCents(budget);
      made.current ??= (await api.post('/v1/projects', { body: { name: name.trim() } })).project;
      const { id, name: is } = made.current;
      const body = {
        ...(name.trim() === is ? {} : { name: name.trim() }),
        ...(cents === before ? {} : { budgetCentsMonthly: cents }),
      };
      if (Object.keys(body).length > 0) await api.patch('/v1/projects/{id}', { params: { path: { id } }, body });
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
