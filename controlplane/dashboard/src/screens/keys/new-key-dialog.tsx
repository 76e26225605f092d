/** Makes a key, for one agent or for several; each scope says what it means before it is chosen. */
import { NativeSelect, Radio, Stack } from '@mantine/core';
import { useFormDraft } from '../../api/form-drafts.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/form-errors.js';
import { expiryInDays, LifetimeSelect } from '../../components/forms/lifetime-select.js';
import { NameInput } from '../../components/forms/name-input.js';
import { useCreateKey, useProjects } from '../../resources/agents.js';

const SCOPES = [
  {
    value: 'agent',
    label: 'One agent',
    description: 'Calls are that agent’s, under its limits and on its bill. The right one for nearly everything.',
  },
  {
    value: 'project',
    label: 'All agents of a project',
    description: 'For a program that runs several agents: each call names its agent in the header x-gateway-agent.',
  },
  {
    value: 'org',
    label: 'All agents of the organization',
    description: 'The same, for every agent there is. Whoever holds it can spend every budget: give it to few.',
  },
] as const;
type Scope = (typeof SCOPES)[number]['value'];

const LABELS = { name: 'Name', agentId: 'Agent', projectId: 'Project', expiresAt: 'End' };

interface NewKeyDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (secret: string, agentId: string | null) => void;
}

export function NewKeyDialog({ onClose, onCreated: onMade }: NewKeyDialogProps) {
  const projects = useProjects();
  const [name, setName] = useFormDraft('new key name', '');
  const [scope, setScope] = useFormDraft<Scope>('new key scope', 'agent');
  const [agentId, setAgentId] = useFormDraft('new key agent', '');
  const [project, setProject] = useFormDraft('new key project', '');
  const [days, setDays] = useFormDraft('new key days', '');
  const create = useCreateKey();
  const projectId = project === '' ? (projects.data?.[0]?.id ?? '') : project;
  const ready = scope !== 'agent' || agentId !== '';
  const problem = formErrors(create.error, LABELS);
  return (
    <FormDialog
      title="New key"
      problem={problem}
      onSubmit={() => {
        create.mutate(
          {
            name: name.trim(),
            scope,
            expiresAt: expiryInDays(days),
            ...(scope === 'agent' ? { agentId } : {}),
            ...(scope === 'project' ? { projectId } : {}),
          },
          { onSuccess: ({ secretKey }) => onMade(secretKey, scope === 'agent' ? agentId : null) },
        );
      }}
      action="Make the key"
      pending={create.isPending}
      disabled={!ready}
      onClose={onClose}
    >
      <NameInput
        error={problem.fieldError('name')}
        description="Where it will be used, so that you know it again."
        placeholder="production"
        value={name}
        onChange={setName}
      />
      <Radio.Group label="It speaks for" value={scope} onChange={(value) => setScope(value as Scope)}>
        <Stack gap="xs" mt="xs">
          {SCOPES.map((one) => (
            <Radio key={one.value} {...one} />
          ))}
        </Stack>
      </Radio.Group>
      {scope === 'agent' && (
        <AgentSelect
          label="Agent"
          placeholder="Its name"
          error={problem.fieldError('agentId')}
          value={agentId}
          onChange={setAgentId}
        />
      )}
      {scope === 'project' && (
        <NativeSelect
          label="Project"
          error={problem.fieldError('projectId')}
          data={(projects.data ?? []).map(({ id, name: label }) => ({ value: id, label }))}
          value={projectId}
          onChange={(event) => setProject(event.currentTarget.value)}
        />
      )}
      <LifetimeSelect value={days} onChange={setDays} error={problem.fieldError('expiresAt')} />
    </FormDialog>
  );
}
