/** The tools of an agent's MCP server, with a switch for each that changes the agent's policy. */
import { Alert, Badge, Button, Group, Modal, Stack, Switch, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showErrorToast } from '../../components/feedback/toast.js';
import { SearchInput } from '../../components/forms/search-input.js';
import { DataTable } from '../../components/tables/data-table.js';
import { invalidateAgents } from '../../resources/agent-status-and-threshold-changes.js';
import { setToolAllowed } from './tool-policy-changes.js';

interface AccountToolsDialogProps {
  readonly account: { readonly id: string; readonly agentId: string; readonly providerSlug: string };
  readonly name: string;
  /** Slugs of all providers of the agent. */
  readonly accountSlugs: readonly string[];
  readonly onClose: () => void;
}

const queryKeyOf = (accountId: string) => ['accounts', 'tools', accountId];
const fetchTools = (id: string, refresh: boolean) =>
  api.get('/v1/providers/accounts/{id}/tools', { params: { path: { id }, query: refresh ? { refresh } : {} } });

export function AccountToolsDialog({ account, name, accountSlugs, onClose }: AccountToolsDialogProps) {
  const [search, setSearch] = useState('');
  const missingRole = useMissingRoleReason('admin');
  const tools = useQuery({ queryKey: queryKeyOf(account.id), queryFn: () => fetchTools(account.id, false) });
  const refresh = useMutation({
    mutationFn: () => fetchTools(account.id, true),
    onSuccess: (data) => queryClient.setQueryData(queryKeyOf(account.id), data),
    onError: showErrorToast,
  });
  const change = useMutation({
    mutationFn: async ({ tool, isAllowed }: { tool: string; isAllowed: boolean }) => {
      // The policy as it is now: another admin may have changed it meanwhile.
      const { agent } = await api.get('/v1/agents/{id}', { params: { path: { id: account.agentId } } });
      const policy = setToolAllowed(agent.policy, account.providerSlug, tool, isAllowed, accountSlugs);
      if (typeof policy === 'string') throw new Error(policy);
      await api.patch('/v1/agents/{id}', { params: { path: { id: account.agentId } }, body: { policy } });
    },
    onError: showErrorToast,
    onSettled: () =>
      Promise.all([queryClient.invalidateQueries({ queryKey: queryKeyOf(account.id) }), invalidateAgents()]),
  });
  const { data } = tools;
  const part = search.toLowerCase();
  return (
    <Modal opened onClose={onClose} title={`Tools of ${name}`} size="xl">
      <Stack gap="md">
        {data?.problem != null && (
          <Alert color="red" title="The tools could not be listed">
            {data.problem}
          </Alert>
        )}
        <Group justify="space-between" align="flex-end">
          <SearchInput label="Search tools" placeholder="Name" value={search} onChange={setSearch} />
          <Group gap="sm">
            {data?.fetchedAt != null && (
              <Text size="sm" c="dimmed">
                Listed <RelativeTime at={data.fetchedAt} />
              </Text>
            )}
            <Button variant="default" loading={refresh.isPending} onClick={() => refresh.mutate()}>
              Refresh
            </Button>
          </Group>
        </Group>
        <DataTable
          label="Tools"
          query={tools}
          rows={(answer) => answer.tools.filter((tool) => tool.name.toLowerCase().includes(part))}
          rowKey={(tool) => tool.name}
          empty={<EmptyState title="No tools" text="The server lists no tool with this name." />}
          columns={[
            {
              header: 'Tool',
              cell: (tool) => (
                <Stack gap={2}>
                  <Text size="sm" className="acg-break-anywhere">
                    {tool.name}
                  </Text>
                  {tool.description !== null && (
                    <Text size="xs" c="dimmed" lineClamp={2}>
                      {tool.description}
                    </Text>
                  )}
                </Stack>
              ),
            },
            {
              header: 'Server says',
              cell: (tool) => {
                if (tool.readOnly === true) return <Badge variant="light">read-only</Badge>;
                if (tool.destructive !== true) return '–';
                return (
                  <Badge variant="light" color="red">
                    destructive
                  </Badge>
                );
              },
            },
            { header: 'Per minute', numeric: true, cell: (tool) => tool.rpm ?? '–' },
            {
              header: 'Allowed',
              cell: (tool) => (
                <Switch
                  aria-label={`Allow ${tool.name}`}
                  checked={tool.allowed}
                  disabled={missingRole !== null || change.isPending}
                  title={missingRole ?? undefined}
                  onChange={(event) => change.mutate({ tool: tool.name, isAllowed: event.currentTarget.checked })}
                />
              ),
            },
          ]}
        />
        {data?.truncated === true && (
          <Text size="sm" c="dimmed">
            The server has more tools than are listed here.
          </Text>
        )}
        <Text size="sm" c="dimmed">
          A switch changes the agent’s policy. A policy lists every provider that the agent may use: the first switch
          adds all of its present providers.
        </Text>
      </Stack>
    </Modal>
  );
}
