/** One agent: what it does, what it may, and how to stop it. */
import { Anchor, Group, Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { Failure } from '../../parts/failure.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { type Agent, useAgent } from '../../resources/agents.js';
import { AgentActions } from './agent-actions.js';
import { AgentStatus } from './agent-status.js';

const DEFAULTS = { tab: 'overview' };
const TABS = [
  {
    value: 'overview',
    label: 'Overview',
    Panel: lazy(async () => ({ default: (await import('./overview-tab.js')).OverviewTab })),
  },
  { value: 'calls', label: 'Calls', Panel: lazy(async () => ({ default: (await import('./calls-tab.js')).CallsTab })) },
  { value: 'keys', label: 'Keys', Panel: lazy(async () => ({ default: (await import('./keys-tab.js')).KeysTab })) },
  {
    value: 'providers',
    label: 'Providers',
    Panel: lazy(async () => ({ default: (await import('./providers-tab.js')).ProvidersTab })),
  },
  {
    value: 'limits',
    label: 'Limits',
    Panel: lazy(async () => ({ default: (await import('./limits-tab.js')).LimitsTab })),
  },
  {
    value: 'connect',
    label: 'Connect',
    Panel: lazy(async () => ({ default: (await import('./connect-tab.js')).ConnectTab })),
  },
] as const;

export function AgentPage() {
  const { id = '' } = useParams();
  const agent = useAgent(id);
  if (agent.data === undefined) {
    return agent.error === null ? (
      <Stack>
        <Skeleton h={32} w={240} />
        <Skeleton h={320} />
      </Stack>
    ) : (
      <>
        <ToAll />
        <PageHeader title="Agent" />
        <Failure error={agent.error} onRetry={() => void agent.refetch()} />
      </>
    );
  }
  return <Loaded agent={agent.data} />;
}

const ToAll = () => (
  <Anchor component={Link} href="/agents" size="sm">
    All agents
  </Anchor>
);

function Loaded({ agent }: { readonly agent: Agent }) {
  const { values } = useSearchState(DEFAULTS);
  const [path, navigate] = useLocation();
  const tab = TABS.find(({ value }) => value === values.tab) ?? TABS[0];
  return (
    <>
      <ToAll />
      <PageHeader
        title={agent.name}
        description={
          <Group component="span" gap="md">
            <AgentStatus status={agent.status} />
            <Text span inherit>
              {agent.slug}
            </Text>
            {agent.description !== '' && (
              <Text span inherit>
                {agent.description}
              </Text>
            )}
          </Group>
        }
        actions={<AgentActions agent={agent} />}
      />
      <Tabs
        value={tab.value} // Pages and periods of another tab do not come along.
        onChange={(value) => navigate(value === DEFAULTS.tab ? path : `${path}?tab=${value}`)}
        keepMounted={false}
      >
        <Tabs.List mb="lg" className="acg-tabs" aria-label={`About ${agent.name}`}>
          {TABS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {TABS.map(({ value, Panel }) => (
          <Tabs.Panel key={value} value={value}>
            <Suspense fallback={<Skeleton h={240} />}>
              <Panel agent={agent} />
            </Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}
