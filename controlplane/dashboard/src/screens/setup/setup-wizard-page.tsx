/**
 * The setup wizard: four steps to an agent's first call. Completed steps come from the server, so that the user can
 * continue later. Steps can be skipped. `agent` in the URL names the agent.
 */
import { Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Check } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { useFocusOnAppear } from '../../components/focus/use-focus-on-appear.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useAgentAccounts, useAgentKeys } from '../../resources/agent-account-and-key-hooks.js';
import { CreateAgentStep } from './create-agent-step.js';
import { GatewayTokenStep } from './gateway-token-step.js';
import { ProviderCredentialStep } from './provider-credential-step.js';

const FirstCallStep = lazyComponent(
  async () => (await import('./first-call-step.js')).FirstCallStep,
  <Skeleton h={320} />,
);

const DEFAULTS = { agent: '', step: 0 };
const STEP_TITLES = ['Create an agent', 'Add a provider credential', 'Create a gateway token', 'Make the first call'];

export function SetupWizardPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const newest = useQuery({
    queryKey: ['agents', 'newest'],
    queryFn: () => api.get('/v1/usage/agents', { params: { query: { sort: 'createdAt', order: 'desc', limit: 1 } } }),
  });
  if (newest.data === undefined) {
    return newest.error === null ? <Skeleton h={320} /> : <ErrorAlert error={newest.error} onRetry={newest.refetch} />;
  }
  // The newest agent without a call is the one being set up.
  const unfinished = newest.data.agents.find(({ lastCallAt }) => lastCallAt === null)?.id ?? '';
  const agentId = values.agent === '' ? unfinished : values.agent;
  return (
    <>
      <PageHeader title="Set up an agent" description="Takes about two minutes to the first call." />
      <SetupSteps
        key={agentId}
        agentId={agentId === 'new' ? '' : agentId}
        chosen={values.step}
        onAgent={(agent) => set({ agent, step: 0 }, { replace: true })}
        onStep={(step) => set({ agent: agentId, step }, { replace: true })}
      />
    </>
  );
}

interface SetupStepsProps {
  /** Empty: no agent yet. */
  readonly agentId: string;
  /** The requested step, from 1; 0: the first incomplete one. */
  readonly chosen: number;
  readonly onAgent: (id: string) => void;
  readonly onStep: (step: number) => void;
}

function SetupSteps({ agentId, chosen, onAgent, onStep }: SetupStepsProps) {
  const [token, setToken] = useState<string | null>(null);
  const accounts = useAgentAccounts(agentId);
  const keys = useAgentKeys(agentId);
  const hasAgent = agentId !== '';
  if (hasAgent && (accounts.data === undefined || keys.data === undefined)) {
    const failed = [accounts, keys].filter(({ error }) => error !== null);
    const retryFailed = () => Promise.all(failed.map(({ refetch }) => refetch()));
    return failed.length === 0 ? <Skeleton h={320} /> : <ErrorAlert error={failed[0]!.error} onRetry={retryFailed} />;
  }
  const done = [hasAgent, (accounts.data ?? []).length > 0, (keys.data ?? []).length > 0, false];
  // A new token stays on screen, because it cannot be shown again.
  const next = token === null ? done.indexOf(false) + 1 : 3;
  const current = chosen >= 1 && chosen <= done.length && (hasAgent || chosen === 1) ? chosen : next;
  const providerSlug = accounts.data?.[0]?.providerSlug ?? 'openai';
  const panels: readonly ReactNode[] = [
    <CreateAgentStep key="name" onCreated={onAgent} />,
    <ProviderCredentialStep key="provider" agentId={agentId} onDone={() => onStep(0)} />,
    <GatewayTokenStep
      key="token"
      agentId={agentId}
      providerSlug={providerSlug}
      token={token}
      onToken={setToken}
      onDone={() => onStep(4)}
    />,
    <FirstCallStep key="call" agentId={agentId} providerSlug={providerSlug} token={token} onStep={onStep} />,
  ];
  return (
    <Stack gap="md" maw={860} component="ol" className="acg-plain-list">
      {STEP_TITLES.map((title, i) => (
        <SetupStep
          key={title}
          number={i + 1}
          title={title}
          done={done[i] === true}
          open={current === i + 1}
          onOpen={hasAgent && i > 0 ? () => onStep(i + 1) : null}
        >
          {panels[i]}
        </SetupStep>
      ))}
    </Stack>
  );
}

interface SetupStepProps {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly open: boolean;
  /** Null: the step cannot be opened now. */
  readonly onOpen: (() => void) | null;
  readonly children: ReactNode;
}

function SetupStep({ number, title, done, open, onOpen, children }: SetupStepProps) {
  const heading = useFocusOnAppear<HTMLHeadingElement>(open);
  return (
    <Card component="li" aria-current={open ? 'step' : undefined}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap="sm" wrap="nowrap">
          <span className="acg-step-number" data-done={done} data-open={open}>
            {done ? <Check size={16} aria-label="done" /> : number}
          </span>
          <Title order={2} ref={heading} tabIndex={-1} {...(open || done ? {} : { c: 'dimmed' })}>
            {title}
          </Title>
        </Group>
        {!open && onOpen !== null && (
          <Button
            flex="none"
            size="compact-sm"
            variant="subtle"
            onClick={onOpen}
            aria-label={`${done ? 'Edit' : 'Open'}: ${title}`}
          >
            {done ? 'Edit' : 'Open'}
          </Button>
        )}
      </Group>
      {open && (
        <Text component="div" mt="md">
          {children}
        </Text>
      )}
    </Card>
  );
}
