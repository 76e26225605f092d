/** The Sessions tab: where the user is logged in. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { DataTable } from '../../components/tables/data-table.js';
import { describeUserAgent } from '../../format/describe-user-agent.js';

const PAGE_SIZE = 20;
const KIND_LABELS = { browser: 'Browser', cli: 'Device', api: 'Program' } as const;

interface SessionsTabProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

export function SessionsTab({ page, onPage }: SessionsTabProps) {
  const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const sessions = useQuery({
    queryKey: ['sessions', page],
    queryFn: () => api.get('/v1/sessions', { params: { query } }),
  });
  const onEnded = (): void => {
    void queryClient.invalidateQueries({ queryKey: ['sessions'] });
    showToast('Logged out');
  };
  const end = useMutation({
    mutationFn: (id: string) => api.delete('/v1/sessions/{id}', { params: { path: { id } } }),
    onSuccess: onEnded,
    onError: showErrorToast,
  });
  const endOthers = useMutation({
    mutationFn: () => api.delete('/v1/sessions'),
    onSuccess: onEnded,
    onError: showErrorToast,
  });
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed">
          Browsers, devices and programs that are logged in as you.
        </Text>
        <Button
          variant="default"
          loading={endOthers.isPending}
          disabled={(sessions.data?.total ?? 0) < 2}
          onClick={() => endOthers.mutate()}
        >
          Log out all others
        </Button>
      </Group>
      <DataTable
        label="Sessions"
        query={sessions}
        rows={(data) => data.sessions}
        rowKey={({ id }) => id}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={<EmptyState title="No sessions" />}
        columns={[
          {
            header: 'Type',
            cell: ({ kind, current }) => `${KIND_LABELS[kind]}${current ? ' (this one)' : ''}`,
          },
          {
            header: 'Program',
            cell: ({ userAgent }) => (
              <Text size="sm" span lineClamp={1} maw={360} className="acg-break-anywhere" title={userAgent}>
                {describeUserAgent(userAgent)}
              </Text>
            ),
          },
          { header: 'IP address', sortValue: ({ ip }) => ip, cell: ({ ip }) => ip },
          {
            header: 'Last active',
            sortValue: ({ lastSeenAt }) => lastSeenAt,
            cell: ({ lastSeenAt }) => <RelativeTime at={lastSeenAt} />,
          },
          { header: 'Expires', cell: ({ expiresAt }) => <RelativeTime at={expiresAt} />, wideOnly: true },
          {
            header: 'Actions',
            cell: ({ id, current }) => (
              <Group justify="flex-end">
                <Button
                  size="xs"
                  variant="subtle"
                  color="red"
                  disabled={current}
                  title={current ? 'This is your current session. Log out to end it.' : undefined}
                  loading={end.isPending && end.variables === id}
                  onClick={() => end.mutate(id)}
                >
                  Log out
                </Button>
              </Group>
            ),
          },
        ]}
      />
    </Stack>
  );
}
