/**
 * Creates an agent, its provider account and its gateway token in one dialog. Completed steps are kept when a later one
 * fails.
 */
import { Button, Divider, Group, Modal, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { RestoreFocusOnClose } from '../../components/focus/restore-focus-on-close.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { credentialFieldLabels, toCredentials } from '../../components/forms/credential-fields.js';
import { EMPTY_ACCOUNT, ProviderAccountFields } from '../../components/forms/provider-account-fields.js';
import { ProviderSelect } from '../../components/forms/provider-select.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { LazyCodeSnippetTabs } from '../../components/secrets/lazy-code-snippet-tabs.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { dollarInputToCents } from '../../format/format.js';
import {
  onlyProjectId,
  useAddAccount,
  useCreateKey,
  useProjects,
  useProviders,
} from '../../resources/agent-account-and-key-hooks.js';

const EMPTY = { name: '', projectId: '', budget: '' as number | string, provider: '', token: true };
const LABELS = { name: 'Name', projectId: 'Project', budgetCentsMonthly: 'Monthly budget', providerSlug: 'Provider' };

interface NewToken {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly secret: string;
}

interface NewAgentDialogProps {
  /** The project that the list of agents shows; empty: all. */
  readonly projectId: string;
  /** The agent was created; its token is shown until {@link onClose}. */
  readonly onToken: () => void;
  readonly onClose: () => void;
}

export function NewAgentDialog({ projectId, onToken, onClose }: NewAgentDialogProps) {
  const [, navigate] = useLocation();
  const [token, setToken] = useState<NewToken | null>(null);
  const showToken = (newToken: NewToken) => {
    setToken(newToken);
    onToken();
  };
  const openAgentPage = (agentId: string) => {
    onClose();
    navigate(`/agents/${agentId}`);
  };
  // Two separate dialogs: nested, the secret would close together with the form.
  if (token !== null) {
    return (
      <SecretDialog title="Gateway token" secret={token.secret} onStored={() => openAgentPage(token.agentId)}>
        <LazyCodeSnippetTabs providerSlug={token.providerSlug} token={token.secret} />
      </SecretDialog>
    );
  }
  return (
    <Modal opened onClose={onClose} title="New agent" size="lg">
      <RestoreFocusOnClose />
      <NewAgentForm listedProjectId={projectId} onClose={onClose} onToken={showToken} onCreated={openAgentPage} />
    </Modal>
  );
}

interface NewAgentFormProps {
  readonly listedProjectId: string;
  readonly onClose: () => void;
  readonly onToken: (token: NewToken) => void;
  /** Called when no token was requested. */
  readonly onCreated: (agentId: string) => void;
}

function NewAgentForm({ listedProjectId, onClose, onToken, onCreated }: NewAgentFormProps) {
  const projects = useProjects();
  const providers = useProviders();
  const addAccount = useAddAccount();
  const createKey = useCreateKey();
  const [account, setAccount] = useState(EMPTY_ACCOUNT);
  /** Completed steps; a retry continues after them. */
  const [completedSteps, setCompletedSteps] = useFormDraft<{ readonly agentId?: string; readonly account?: true }>(
    'new agent made',
    {},
  );
  const onlyProject = onlyProjectId(projects.data);
  const [draft, saveDraft] = useFormDraft('new agent form', { ...EMPTY, projectId: listedProjectId });
  const form = useForm({
    initialValues: draft,
    onValuesChange: saveDraft,
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name' : null),
      projectId: (value) => (value === '' && onlyProject === '' ? 'Select a project' : null),
    },
  });
  const provider = providers.data?.find(({ slug }) => slug === form.values.provider);
  const create = useMutation({
    mutationFn: async ({ name, projectId, budget, provider: providerSlug, token }: typeof form.values) => {
      const project = projectId === '' ? onlyProject : projectId;
      let { agentId } = completedSteps;
      if (agentId === undefined) {
        const cents = dollarInputToCents(budget);
        // A stated null would overrule the project's defaults for new agents.
        const stated = cents === null ? {} : { budgetCentsMonthly: cents };
        const body = { projectId: project, name: name.trim(), ...stated };
        agentId = (await api.post('/v1/agents', { body })).agent.id;
        setCompletedSteps({ agentId });
        void queryClient.invalidateQueries({ queryKey: ['agents'] });
      }
      if (providerSlug !== '' && completedSteps.account === undefined) {
        const { credentials, allowOpaque } = account;
        await addAccount.mutateAsync({
          agentId,
          providerSlug,
          credentials: toCredentials(provider, credentials),
          allowOpaque,
        });
        setCompletedSteps({ agentId, account: true });
      }
      if (!token) return { agentId, secretKey: null };
      return { agentId, secretKey: (await createKey.mutateAsync({ name: 'first', agentId })).secretKey };
    },
    gcTime: 0,
    onSuccess: ({ agentId, secretKey }) => {
      const providerSlug = form.values.provider === '' ? 'openai' : form.values.provider;
      if (secretKey === null) onCreated(agentId);
      else onToken({ agentId, providerSlug, secret: secretKey });
    },
  });
  const errors = formErrors(create.error, { ...LABELS, ...credentialFieldLabels(provider) });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="md">
        {errors.formError}
        <Divider label="Agent" labelPosition="left" />
        <TextInput
          label="Name"
          placeholder="Support bot"
          data-autofocus
          disabled={completedSteps.agentId !== undefined}
          {...form.getInputProps('name')}
          error={form.errors.name ?? errors.fieldError('name')}
        />
        <Group grow align="flex-start">
          <Select
            label="Project"
            data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            allowDeselect={false}
            disabled={completedSteps.agentId !== undefined}
            {...form.getInputProps('projectId')}
            error={form.errors.projectId ?? errors.fieldError('projectId')}
            placeholder="Select a project"
            value={form.values.projectId || onlyProject || null}
          />
          <BudgetAmountInput
            label="Monthly budget (USD)"
            placeholder="Project default"
            disabled={completedSteps.agentId !== undefined}
            {...form.getInputProps('budget')}
            error={errors.fieldError('budgetCentsMonthly')}
          />
        </Group>
        <Divider label="Provider" labelPosition="left" />
        <ProviderSelect
          label="Provider (optional)"
          placeholder="Add one later"
          clearable
          clearButtonProps={{ 'aria-label': 'Clear provider' }}
          disabled={completedSteps.account === true}
          error={errors.fieldError('providerSlug')}
          value={form.values.provider}
          onChange={(slug) => {
            form.setFieldValue('provider', slug);
            setAccount(EMPTY_ACCOUNT);
          }}
        />
        {provider !== undefined && (
          <ProviderAccountFields provider={provider} values={account} onChange={setAccount} errors={errors} />
        )}
        <Divider label="Gateway token" labelPosition="left" />
        <Switch label="Create a gateway token (shown once)" {...form.getInputProps('token', { type: 'checkbox' })} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            {completedSteps.agentId === undefined ? 'Cancel' : 'Close'}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {completedSteps.agentId === undefined ? 'Create agent' : 'Retry'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
