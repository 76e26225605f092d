/** The page of a provider account: its credential, its agent with the tokens that reach it, its usage and calls. */
import { Alert, Anchor, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api } from '../../api/api-client.js';
import { useMissingRoleReason, useOrganizationName } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { TimeSeriesChart } from '../../components/charts/time-series-chart.js';
import { CredentialBadge } from '../../components/credentials/credential-badge.js';
import { MintedCredential } from '../../components/credentials/minted-credential.js';
import { CREDENTIAL_TEST_TOASTS } from '../../components/feedback/credential-test-toasts.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { LoadedValue } from '../../components/feedback/loaded-value.js';
import { MetricTile } from '../../components/feedback/metric-tile.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { TestSteps } from '../../components/feedback/test-steps.js';
import { showToast } from '../../components/feedback/toast.js';
import { Trend } from '../../components/feedback/trend.js';
import { PeriodControl, parsePeriod } from '../../components/forms/period-control.js';
import { Facts } from '../../components/layout/facts.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { PageLink } from '../../components/layout/page-link.js';
import { RecentCalls } from '../../components/reports/recent-calls.js';
import { useOpenCallsOfBar } from '../../components/reports/use-open-calls-of-bar.js';
import {
  formatAgentCount,
  formatCount,
  formatPercent,
  formatUsd,
  formatUsdTick,
  NO_VALUE,
} from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useAgent, useAgentKeys, useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { type ConnectTarget, useAccount } from '../../resources/connection-hooks.js';
import { useTestAccount } from '../../resources/provider-account-mutations.js';
import { useSharedCredential } from '../../resources/shared-credential-hooks.js';
import { RemoveAccountDialog } from './remove-account-dialog.js';
import { type Account, useProviderName } from './use-account-list.js';

const AccountSetup = lazyComponent(
  async () => (await import('../../components/credentials/provider-setup.js')).AccountSetup,
  null,
);
const RotateAccountDialog = lazyComponent(
  async () => (await import('./rotate-account-dialog.js')).RotateAccountDialog,
  null,
);
const RotationSection = lazyComponent(
  async () => (await import('../../components/credentials/rotation-section.js')).RotationSection,
  <Skeleton h={200} />,
);

export function AccountPage() {
  const { id = '' } = useParams();
  const account = useAccount(id);
  const organization = useOrganizationName();
  return (
    <>
      <Anchor component={Link} href="/providers" size="sm">
        All provider accounts
      </Anchor>
      {account.data !== undefined && <AccountDetails key={id} account={account.data} />}
      {account.data === undefined && account.error === null && <Skeleton h={320} />}
      {account.data === undefined && account.error !== null && (
        <>
          <PageHeader title="Provider account" />
          <ErrorAlert error={account.error} onRetry={account.refetch} />
          <Text size="sm" mt="md">
            You see accounts of {organization}. Switch the organization if the account belongs to another one.
          </Text>
        </>
      )}
    </>
  );
}

function AccountDetails({ account }: { readonly account: Account }) {
  const { id, agentId, agentName, providerSlug, credentialId, status } = account;
  const nameOf = useProviderName();
  const title = `${agentName} at ${nameOf(providerSlug)}`;
  const mayReadAudit = useMissingRoleReason('admin') === null;
  const test = useTestAccount();
  const [isRotateOpen, setIsRotateOpen] = useState(false);
  const [isRemoveOpen, setIsRemoveOpen] = useState(false);
  const [, navigate] = useLocation();
  const target: ConnectTarget =
    credentialId === null ? { kind: 'account', id } : { kind: 'credential', id: credentialId };
  return (
    <>
      <PageHeader
        title={title}
        description={
          account.minted === null && status === 'active' ? (
            <StatusBadge tone="success">Credential stored</StatusBadge>
          ) : (
            <CredentialBadge status={status} minted={account.minted} />
          )
        }
        actions={
          <Group gap="sm">
            <RoleGuardedButton
              requiredRole="admin"
              variant="default"
              loading={test.isPending}
              onClick={() => test.mutate(id, CREDENTIAL_TEST_TOASTS)}
            >
              Test
            </RoleGuardedButton>
            <RoleGuardedButton requiredRole="admin" variant="default" onClick={() => setIsRotateOpen(true)}>
              Rotate
            </RoleGuardedButton>
            <RoleGuardedButton requiredRole="admin" variant="subtle" color="red" onClick={() => setIsRemoveOpen(true)}>
              Remove
            </RoleGuardedButton>
          </Group>
        }
      />
      <Facts
        label="About this account"
        facts={[
          { label: 'Credential', value: credentialId === null ? 'Not shared' : <CredentialName id={credentialId} /> },
          { label: 'Agent', value: <PageLink href={`/agents/${agentId}?tab=providers`}>{agentName}</PageLink> },
          { label: 'Project', value: <ProjectOfAgent agentId={agentId} /> },
          { label: 'Provider', value: nameOf(providerSlug) },
          { label: 'Id', value: <InlineCopy value={id} what="account id" /> },
          { label: 'Sensitive calls', value: account.allowSensitivePaths ? 'allowed' : 'rejected' },
          { label: 'Opaque calls', value: account.allowOpaque ? 'allowed' : 'rejected' },
          { label: 'Last used', value: <RelativeTime at={account.lastUsedAt} never="Never" /> },
          { label: 'Added', value: <RelativeTime at={account.createdAt} /> },
          ...(mayReadAudit
            ? [{ label: 'History', value: <PageLink href={`/audit?target=${id}`}>Audit entries</PageLink> }]
            : []),
        ]}
      />
      <Stack gap="xl">
        {status !== 'active' && (
          <Alert color="red" variant="light" title="The stored credential is out of use">
            The provider rejected it, or the settings of the provider changed. Calls are rejected until an admin rotates
            to a credential that the provider accepts.
          </Alert>
        )}
        {account.minted !== null && (
          <Card>
            <MintedCredential
              target={target}
              usedBy={credentialId === null ? agentName : 'every agent that shares the credential'}
              providerSlug={providerSlug}
              minted={account.minted}
            />
            <AccountSetup agentId={agentId} providerSlug={providerSlug} method={account.minted.method} />
            <TestAnswer test={test} accountId={id} />
          </Card>
        )}
        {account.rotation !== null && (
          <Card>
            <RotationSection target={target} rotation={account.rotation} />
          </Card>
        )}
        <AccountUsage agentId={agentId} providerSlug={providerSlug} />
        <TokensOfAgent agentId={agentId} />
        <RecentCalls scope={{ agentId, provider: providerSlug }} />
      </Stack>
      {isRotateOpen && <RotateAccountDialog account={account} onClose={() => setIsRotateOpen(false)} />}
      {isRemoveOpen && (
        <RemoveAccountDialog
          account={account}
          title={title}
          onClose={() => setIsRemoveOpen(false)}
          onRemoved={() => {
            showToast(`${title} removed`);
            navigate('/providers');
          }}
        />
      )}
    </>
  );
}

interface TestAnswerProps {
  readonly test: ReturnType<typeof useTestAccount>;
  readonly accountId: string;
}

/** Exchanges and calls with the present settings, and shows what each step answered. */
function TestAnswer({ test, accountId }: TestAnswerProps) {
  const isHintShown = test.data?.steps.some(({ message }) => message === test.data.hint) ?? false;
  return (
    <Stack gap="sm" mt="md" component="section" aria-label="Test">
      <Group>
        <RoleGuardedButton
          requiredRole="admin"
          variant="default"
          loading={test.isPending}
          onClick={() => test.mutate(accountId)}
        >
          Test each step
        </RoleGuardedButton>
      </Group>
      {test.error !== null && <ErrorAlert error={test.error} />}
      {test.data !== undefined && <TestSteps steps={test.data.steps} />}
      {test.data?.ok === false && test.data.hint !== null && !isHintShown && <Text size="sm">{test.data.hint}</Text>}
    </Stack>
  );
}

/** The shared credential, which leads to all agents that call with it. */
function CredentialName({ id }: { readonly id: string }) {
  const credential = useSharedCredential(id);
  return (
    <LoadedValue query={credential}>
      {({ name, accounts }) => (
        <>
          <PageLink href={`/providers?tab=shared&credential=${id}`}>{name}</PageLink>, used by{' '}
          {formatAgentCount(accounts)}
        </>
      )}
    </LoadedValue>
  );
}

function ProjectOfAgent({ agentId }: { readonly agentId: string }) {
  const agent = useAgent(agentId);
  const projects = useProjects();
  return (
    <LoadedValue query={agent}>
      {({ projectId }) => (
        <PageLink href={`/projects/${projectId}`}>
          {projects.data?.find(({ id }) => id === projectId)?.name ?? 'View project'}
        </PageLink>
      )}
    </LoadedValue>
  );
}

const DEFAULTS = { period: '30d' };
const REFETCH_MS = 30_000;

/** The agent's calls at this provider. */
function AccountUsage({ agentId, providerSlug }: { readonly agentId: string; readonly providerSlug: string }) {
  const { values, set } = useUrlState(DEFAULTS);
  const period = parsePeriod(values.period);
  const scope = { agentId, period };
  const breakdown = useQuery({
    queryKey: ['usage', 'breakdown', { ...scope, by: 'provider' }],
    queryFn: () =>
      api.get('/v1/usage/breakdown', {
        params: { query: { ...scope, by: 'provider', compare: 'previous', limit: 100 } },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  const seriesQuery = { ...scope, groupBy: 'provider', interval: period === '24h' ? 'hour' : 'day' } as const;
  const series = useQuery({
    queryKey: ['usage', 'timeseries', seriesQuery],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query: seriesQuery } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  const openCalls = useOpenCallsOfBar({ agent: agentId, provider: providerSlug });
  const row = breakdown.data?.rows.find(({ value }) => value === providerSlug);
  const points = series.data?.groups?.find(({ value }) => value === providerSlug)?.timeseries;
  const buckets = useMemo(() => points?.map(({ bucket }) => bucket) ?? [], [points]);
  const spend = useMemo(() => [{ label: 'Spend', values: points?.map(({ costUsd }) => costUsd ?? 0) ?? [] }], [points]);
  // Loaded data without a row: no calls in the period.
  const missing = breakdown.isPending ? undefined : NO_VALUE;
  const figure = (value: string): string | undefined => (breakdown.data === undefined ? missing : value);
  const against = `previous ${period}`;
  return (
    <Stack component="section" aria-label="Usage" gap="lg">
      <Group justify="space-between">
        <Title order={2}>Usage</Title>
        <PeriodControl value={period} onChange={(value) => set({ period: value })} />
      </Group>
      {breakdown.error !== null && <ErrorAlert error={breakdown.error} onRetry={breakdown.refetch} />}
      <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="md">
        <MetricTile label="Spend" value={figure(formatUsd(row?.costUsd ?? 0))}>
          {row && <Trend now={row.costUsd ?? 0} before={row.previous?.costUsd} against={against} />}
        </MetricTile>
        <MetricTile label="Calls" value={figure(formatCount(row?.requests ?? 0))}>
          {row && <Trend now={row.requests ?? 0} before={row.previous?.requests} against={against} />}
        </MetricTile>
        <MetricTile
          label="Errors"
          value={figure(row?.requests ? formatPercent(((row.errors ?? 0) / row.requests) * 100) : NO_VALUE)}
        />
      </SimpleGrid>
      {series.error !== null && <ErrorAlert error={series.error} onRetry={series.refetch} />}
      {series.data !== undefined && (
        <TimeSeriesChart
          title="Spend"
          buckets={buckets}
          interval={series.data.interval}
          stale={series.isPlaceholderData}
          series={spend}
          format={formatUsd}
          axis={formatUsdTick}
          onBucket={openCalls}
        />
      )}
    </Stack>
  );
}

/** Tokens that make calls with this account. Tokens of the project or the organization reach it too. */
function TokensOfAgent({ agentId }: { readonly agentId: string }) {
  const keys = useAgentKeys(agentId);
  return (
    <Card component="section" aria-label="Gateway tokens of the agent">
      <Title order={2} mb="sm">
        Gateway tokens of the agent
      </Title>
      {keys.error !== null && <ErrorAlert error={keys.error} onRetry={keys.refetch} />}
      {keys.isPending && <Skeleton h={48} />}
      {keys.data?.length === 0 && 'None. Tokens of its project and of the organization can use the account, too.'}
      <ul className="acg-plain-list">
        {keys.data?.map(({ id, name, keyPrefix, lastUsedAt }) => (
          <li key={id}>
            <PageLink href={`/keys/${id}`}>{name}</PageLink> {keyPrefix}…, last used{' '}
            <RelativeTime at={lastUsedAt} never="never" />
          </li>
        ))}
      </ul>
    </Card>
  );
}
