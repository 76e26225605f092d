/** Makes a key, for one agent or for several; each scope says what it means before it is chosen. */
import { NativeSelect, Radio, Stack } from '@mantine/core';
import { useDraft } from '../../api/drafts.js';
import { AgentChoice } from '../../parts/agent-choice.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { endOf, Lifetime } from '../../parts/lifetime.js';
import { NameInput } from '../../parts/name-input.js';
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

interface NewKeyProps {
  readonly onClose: () => void;
  readonly onMade: (secret: string, agentId: string | null) => void;
}

export function NewKey({ onClose, onMade }: NewKeyProps) {
  const projects = useProjects();
  const [name, setName] = useDraft('new key name', '');
  const [scope, setScope] = useDraft<Scope>('new key scope', 'agent');
  const [agentId, setAgentId] = useDraft('new key agent', '');
  const [project, setProject] = useDraft('new key project', '');
  const [days, setDays] = useDraft('new key days', '');
  const create = useCreateKey();
  const projectId = project === '' ? (projects.data?.[0]?.id ?? '') : project;
  const ready = scope !== 'agent' || agentId !== '';
  const problem = formProblem(create.error, LABELS);
  return (
    <FormDialog
      title="New key"
      problem={problem}
      onSubmit={() => {
        create.mutate(
          {
            name: name.trim(),
            scope,
            expiresAt: endOf(days),
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
        error={problem.at('name')}
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
        <AgentChoice
          label="Agent"
          placeholder="Its name"
          error={problem.at('agentId')}
          value={agentId}
          onChange={setAgentId}
        />
      )}
      {scope === 'project' && (
        <NativeSelect
          label="Project"
          error={problem.at('projectId')}
          data={(projects.data ?? []).map(({ id, name: label }) => ({ value: id, label }))}
          value={projectId}
          onChange={(event) => setProject(event.currentTarget.value)}
        />
      )}
      <Lifetime value={days} onChange={setDays} error={problem.at('expiresAt')} />
    </FormDialog>
  );
}
