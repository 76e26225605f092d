/** Makes a management token. */
import { NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { endOf, Lifetime } from '../../parts/lifetime.js';
import { NameInput } from '../../parts/name-input.js';

const ROLES = ['viewer', 'member', 'admin'] as const;

const LABELS = { name: 'Name', role: 'Role', expiresAt: 'End' };

interface NewTokenProps {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

export function NewToken({ onClose, onMade }: NewTokenProps) {
  const [name, setName] = useDraft('new token name', '');
  const [role, setRole] = useDraft<(typeof ROLES)[number]>('new token role', 'viewer');
  const [days, setDays] = useDraft('new token days', '90');
  const make = useMutation({
    mutationFn: () => {
      const expiresAt = endOf(days);
      const body = { name, role, ...(expiresAt === null ? {} : { expiresAt }) };
      return api.post('/v1/management-tokens', { body });
    },
    gcTime: 0,
    onSuccess: ({ secretToken }) => onMade(secretToken),
  });
  const problem = formProblem(make.error, LABELS);
  return (
    <FormDialog
      title="New management token"
      problem={problem}
      onSubmit={() => make.mutate()}
      action="Make token"
      pending={make.isPending}
      onClose={onClose}
    >
      <NameInput error={problem.at('name')} placeholder="ci" value={name} onChange={setName} />
      <NativeSelect
        label="Role"
        error={problem.at('role')}
        data={[...ROLES]}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as (typeof ROLES)[number])}
      />
      <Lifetime value={days} onChange={setDays} error={problem.at('expiresAt')} />
    </FormDialog>
  );
}
