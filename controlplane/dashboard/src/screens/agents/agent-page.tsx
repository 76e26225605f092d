/** The page of an agent: its usage, limits, tokens and actions. */
import { Anchor, Group, Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { Link, useLocation, useParams } from 'wouter';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { PageLink } from '../../components/layout/page-link.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { type Agent, useAgent, useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { AgentActions } from './agent-actions.js';
import { AgentStatusBadge } from './agent-status-badge.js';
import { useAgentMonth } from './use-agent-month.js';

const DEFAULTS = { tab: 'overview' };
const SKELETON = <Skeleton h={240} />;
const TABS = [
  {
    value: 'overview',
    label: 'Overview',
    Panel: lazyComponent(async () => (await import('./overview-tab.js')).OverviewTab, SKELETON),
  },
  {
    value: 'calls',
    label: 'Calls',
    Panel: lazyComponent(async () => (await import('./calls-tab.js')).CallsTab, SKELETON),
  },
  {
    value: 'keys',
    label: 'Gateway tokens',
    Panel: lazyComponent(async () => (await import('./keys-tab.js')).KeysTab, SKELETON),
  },
  {
    value: 'providers',
    label: 'Providers',
    Panel: lazyComponent(async () => (await import('./providers-tab.js')).ProvidersTab, SKELETON),
  },
  {
    value: 'limits',
    label: 'Limits',
    Panel: lazyComponent(async () => (await import('./limits-tab.js')).LimitsTab, SKELETON),
  },
  {
    value: 'policy',
    label: 'Policy',
    Panel: lazyComponent(async () => (await import('./policy-tab.js')).PolicyTab, SKELETON),
  },
  {
    value: 'connect',
    label: 'Connect',
    Panel: lazyComponent(async () => (await import('./connect-tab.js')).ConnectTab, SKELETON),
  },
] as const;
// The tab that links open: with the page, not after the agent.
void TABS[0].Panel.preload();

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
        <AllAgentsLink />
        <PageHeader title="Agent" />
        <ErrorAlert error={agent.error} onRetry={agent.refetch} />
      </>
    );
  }
  // The key resets the state: input for one agent must never appear in the form of another.
  return <AgentTabs key={id} agent={agent.data} />;
}

const AllAgentsLink = () => (
  <Anchor component={Link} href="/agents" size="sm">
    All agents
  </Anchor>
);

function ProjectName({ id }: { readonly id: string }) {
  const name = useProjects().data?.find((project) => project.id === id)?.name;
  if (name === undefined) return null;
  return (
    <Text span inherit>
      Project{' '}
      <Anchor component={Link} href={`/projects/${id}`} inherit underline="always">
        {name}
      </Anchor>
    </Text>
  );
}

/** What restricts the agent beyond its limits, each with a link to the setting. */
function Restrictions({ agent }: { readonly agent: Agent }) {
  const { policy, budgetMode, auditLimits, budgets } = agent;
  const isAudited = auditLimits.length > 0 || budgets.some(({ mode }) => mode === 'audit');
  const links = [
    policy !== null && { tab: 'policy', text: 'Restricted by a policy' },
    budgetMode === 'hard' && { tab: 'limits', text: 'Hard budget' },
    isAudited && { tab: 'limits', text: 'Limits in audit mode' },
  ].filter((link) => link !== false);
  return links.map(({ tab, text }) => (
    <PageLink key={text} href={`/agents/${agent.id}?tab=${tab}`}>
      {text}
    </PageLink>
  ));
}

function AgentTabs({ agent }: { readonly agent: Agent }) {
  const { values } = useUrlState(DEFAULTS);
  const [path, navigate] = useLocation();
  const month = useAgentMonth(agent.id);
  const tab = TABS.find(({ value }) => value === values.tab) ?? TABS[0];
  return (
    <>
      <AllAgentsLink />
      <PageHeader
        title={agent.name}
        description={
          <Group component="span" gap="md">
            <AgentStatusBadge
              status={agent.status}
              monthCents={month.data?.monthCents}
              budgetCents={agent.budgetCentsMonthly}
            />
            {agent.ownerUserId !== undefined && <StatusBadge tone="neutral">Personal agent</StatusBadge>}
            <ProjectName id={agent.projectId} />
            <Restrictions agent={agent} />
            <InlineCopy value={agent.slug} what="slug" />
            <InlineCopy value={agent.id} what="agent id" />
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
        value={tab.value} // Drops the page and period of the other tab.
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
            <Panel agent={agent} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}
