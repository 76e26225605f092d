/** Creates a gateway token for one agent, a project or the organization. */
import { NativeSelect, Radio, Stack } from '@mantine/core';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { expiryInDays, LifetimeSelect } from '../../components/forms/lifetime-select.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useCreateKey, useProjects } from '../../resources/agent-account-and-key-hooks.js';

const SCOPES = [
  {
    value: 'agent',
    label: 'One agent',
    description: 'Calls count against this agent’s limits and budget. Right for nearly every use.',
  },
  {
    value: 'project',
    label: 'All agents of a project',
    description: 'For a program that runs several agents. Each call names its agent in the header x-gateway-agent.',
  },
  {
    value: 'org',
    label: 'All agents of the organization',
    description: 'The same for every agent. The token can spend all budgets, so share it with few programs.',
  },
] as const;
type Scope = (typeof SCOPES)[number]['value'];

const LABELS = { name: 'Name', agentId: 'Agent', projectId: 'Project', expiresAt: 'Expiration' };

interface NewKeyDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (secret: string, agentId: string | null) => void;
}

export function NewKeyDialog({ onClose, onCreated }: NewKeyDialogProps) {
  const projects = useProjects();
  const [name, setName] = useFormDraft('new key name', '');
  const [scope, setScope] = useFormDraft<Scope>('new key scope', 'agent');
  const [agentId, setAgentId] = useFormDraft('new key agent', '');
  const [project, setProject] = useFormDraft('new key project', '');
  const [days, setDays] = useFormDraft('new key days', '');
  const create = useCreateKey();
  const projectId = project === '' ? (projects.data?.[0]?.id ?? '') : project;
  const isValid = scope !== 'agent' || agentId !== '';
  const errors = formErrors(create.error, LABELS);
  return (
    <FormDialog
      title="New gateway token"
      errors={errors}
      onSubmit={() => {
        create.mutate(
          {
            name: name.trim(),
            scope,
            expiresAt: expiryInDays(days),
            ...(scope === 'agent' ? { agentId } : {}),
            ...(scope === 'project' ? { projectId } : {}),
          },
          { onSuccess: ({ secretKey }) => onCreated(secretKey, scope === 'agent' ? agentId : null) },
        );
      }}
      action="Create token"
      pending={create.isPending}
      disabled={!isValid}
      onClose={onClose}
    >
      <NameInput
        error={errors.fieldError('name')}
        description="Where the token will be used, so that you recognize it later."
        placeholder="production"
        value={name}
        onChange={setName}
      />
      <Radio.Group label="Scope" value={scope} onChange={(value) => setScope(value as Scope)}>
        <Stack gap="xs" mt="xs">
          {SCOPES.map((one) => (
            <Radio key={one.value} {...one} />
          ))}
        </Stack>
      </Radio.Group>
      {scope === 'agent' && (
        <AgentSelect
          label="Agent"
          placeholder="Search by name"
          error={errors.fieldError('agentId')}
          value={agentId}
          onChange={setAgentId}
        />
      )}
      {scope === 'project' && (
        <NativeSelect
          label="Project"
          error={errors.fieldError('projectId')}
          data={(projects.data ?? []).map(({ id, name: label }) => ({ value: id, label }))}
          value={projectId}
          onChange={(event) => setProject(event.currentTarget.value)}
        />
      )}
      <LifetimeSelect value={days} onChange={setDays} error={errors.fieldError('expiresAt')} />
    </FormDialog>
  );
}
