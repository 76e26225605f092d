/** The page of a gateway token: whose it is, who created it, which providers it reaches, what it did. */
import { ApiError } from '@acg/client/api-errors';
import { Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { LoadedValue } from '../../components/feedback/loaded-value.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { Facts } from '../../components/layout/facts.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { PageLink } from '../../components/layout/page-link.js';
import { UsageSection } from '../../components/reports/usage-section.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { useAgentAccounts, useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { useMembers } from '../../resources/use-members.js';
import { describeKeyState, fetchKey, type Key } from './fetch-keys-and-describe-status.js';
import { KeyActionButtons, KeyScope } from './key-columns.js';
import { useKeyDialogs } from './use-key-dialogs.js';

const RecentCalls = lazyComponent(
  async () => (await import('../../components/reports/recent-calls.js')).RecentCalls,
  <Skeleton h={160} />,
);

export function KeyPage() {
  const { id = '' } = useParams();
  const key = useQuery({ queryKey: ['keys', 'one', id], queryFn: () => fetchKey(id) });
  return (
    <>
      <Anchor component={Link} href="/keys" size="sm">
        All gateway tokens
      </Anchor>
      {key.data !== undefined && <KeyDetails key={id} apiKey={key.data} />}
      {key.data === undefined && key.error === null && <Skeleton h={320} />}
      {key.data === undefined && key.error !== null && (
        <>
          <PageHeader title="Gateway token" />
          <ErrorAlert error={key.error} onRetry={key.refetch} />
          {key.error instanceof ApiError && key.error.status === 404 && (
            <Text size="sm" mt="md">
              No gateway token has this ID. It may belong to a run or a trust rule.{' '}
              <PageLink href={`/calls?key=${id}`}>View calls with this ID</PageLink>
            </Text>
          )}
        </>
      )}
    </>
  );
}

function KeyDetails({ apiKey }: { readonly apiKey: Awaited<ReturnType<typeof fetchKey>> }) {
  const keyDialogs = useKeyDialogs();
  const projects = useProjects();
  const mayReadAudit = useMissingRoleReason('admin') === null;
  const { tone, text } = describeKeyState(apiKey, Date.now());
  const projectName = (id: string) => projects.data?.find((project) => project.id === id)?.name ?? null;
  return (
    <>
      <PageHeader
        title={apiKey.name}
        description={<StatusBadge tone={tone}>{text}</StatusBadge>}
        actions={apiKey.status !== 'revoked' && <KeyActionButtons apiKey={apiKey} {...keyDialogs} />}
      />
      <Facts
        label="About this token"
        facts={[
          { label: 'Scope', value: <KeyScope apiKey={apiKey} projectName={projectName} /> },
          { label: 'Providers', value: <ReachedProviders apiKey={apiKey} /> },
          { label: 'Prefix', value: <InlineCopy value={apiKey.keyPrefix} what="prefix" /> },
          { label: 'Id', value: <InlineCopy value={apiKey.id} what="token id" /> },
          {
            label: 'Created',
            value: (
              <>
                <RelativeTime at={apiKey.createdAt} />{' '}
                {apiKey.createdBy !== null && <CreatorName userId={apiKey.createdBy} />}
              </>
            ),
          },
          { label: 'Last used', value: <RelativeTime at={apiKey.lastUsedAt} never="Never" /> },
          apiKey.revokedAt === null
            ? { label: 'Expires', value: <RelativeTime at={apiKey.expiresAt} never="Never" /> }
            : { label: 'Revoked', value: <RelativeTime at={apiKey.revokedAt} /> },
          ...(apiKey.replacedBy === null
            ? []
            : [
                {
                  label: 'Replaced by',
                  value: <PageLink href={`/keys/${apiKey.replacedBy}`}>View new token</PageLink>,
                },
              ]),
          ...(mayReadAudit
            ? [{ label: 'History', value: <PageLink href={`/audit?target=${apiKey.id}`}>Audit entries</PageLink> }]
            : []),
        ]}
      />
      <Stack gap="xl">
        <UsageSection scope={{ keyId: apiKey.id }} by={apiKey.scope === 'agent' ? ['model'] : ['agent', 'model']} />
        <RecentCalls scope={{ keyId: apiKey.id }} />
        <Text size="sm" c="dimmed">
          Rejected calls show the IP address of their client; forwarded calls have none. Rejections are counted by
          agent, not by token.
        </Text>
      </Stack>
      {keyDialogs.dialogs}
    </>
  );
}

/** The provider accounts of the token's agent. A token of several agents reaches the accounts of each. */
function ReachedProviders({ apiKey: { agentId } }: { readonly apiKey: Key }) {
  const accounts = useAgentAccounts(agentId ?? '');
  if (agentId === null) return 'Accounts of the agent named in each call';
  return (
    <LoadedValue query={accounts}>
      {(data) =>
        data.length === 0
          ? 'None'
          : data.map(({ id, providerSlug }, i) => (
              <span key={id}>
                {i > 0 && ', '}
                <PageLink href={`/providers/accounts/${id}`}>{providerLabel(providerSlug)}</PageLink>
              </span>
            ))
      }
    </LoadedValue>
  );
}

/** `by ada@example.com`, for a present member. */
function CreatorName({ userId }: { readonly userId: string }) {
  const email = useMembers().data?.find((member) => member.userId === userId)?.email;
  return email === undefined ? null : <>by {email}</>;
}
