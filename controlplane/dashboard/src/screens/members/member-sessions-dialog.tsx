/** The sessions of a member in this organization, which an owner ends. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { DataTable } from '../../components/tables/data-table.js';
import { describeUserAgent } from '../../format/describe-user-agent.js';

const KIND_LABELS = { browser: 'Browser', cli: 'Device', api: 'Program' } as const;
const QUERY_KEY = 'member sessions';

interface MemberSessionsDialogProps {
  readonly member: { readonly userId: string; readonly email: string };
  readonly onClose: () => void;
}

export function MemberSessionsDialog({ member: { userId, email }, onClose }: MemberSessionsDialogProps) {
  const sessions = useQuery({
    queryKey: [QUERY_KEY, userId],
    queryFn: () => api.get('/v1/members/{userId}/sessions', { params: { path: { userId }, query: { limit: 100 } } }),
  });
  const onEnded = (): void => {
    void queryClient.invalidateQueries({ queryKey: [QUERY_KEY, userId] });
    showToast('Logged out');
  };
  const end = useMutation({
    mutationFn: (sessionId: string) =>
      api.delete('/v1/members/{userId}/sessions/{sessionId}', { params: { path: { userId, sessionId } } }),
    onSuccess: onEnded,
    onError: showErrorToast,
  });
  const endAll = useMutation({
    mutationFn: () => api.delete('/v1/members/{userId}/sessions', { params: { path: { userId } } }),
    onSuccess: onEnded,
    onError: showErrorToast,
  });
  return (
    <Modal opened onClose={onClose} title={`Sessions of ${email}`} size="xl">
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          Browsers, devices and programs that are logged in to this organization.
        </Text>
        <DataTable
          label="Sessions"
          query={sessions}
          rows={(data) => data.sessions}
          rowKey={({ id }) => id}
          empty={<EmptyState title="No sessions" />}
          columns={[
            { header: 'Type', cell: ({ kind }) => KIND_LABELS[kind] },
            {
              header: 'Program',
              cell: ({ userAgent }) => (
                <Text size="sm" span lineClamp={1} maw={280} className="acg-break-anywhere" title={userAgent}>
                  {describeUserAgent(userAgent)}
                </Text>
              ),
            },
            { header: 'IP address', cell: ({ ip }) => ip },
            { header: 'Last active', cell: ({ lastSeenAt }) => <RelativeTime at={lastSeenAt} /> },
            {
              header: 'Actions',
              cell: ({ id }) => (
                <Group justify="flex-end">
                  <Button
                    size="xs"
                    variant="subtle"
                    color="red"
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
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button
            color="red"
            loading={endAll.isPending}
            disabled={(sessions.data?.total ?? 0) === 0}
            onClick={() => endAll.mutate()}
          >
            Log out everywhere
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
