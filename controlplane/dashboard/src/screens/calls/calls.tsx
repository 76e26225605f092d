/** Calls of all agents: the newest as they come, or any that were, each with its details. No bodies are stored. */
import { Button, Code, Group, Text } from '@mantine/core';
import { Pause, Play } from 'lucide-react';
import { usd } from '../../format/format.js';
import { CallStatus } from '../../parts/call-status.js';
import { DataTable } from '../../parts/data-table.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { CallDrawer } from './call-drawer.js';
import { CALL_FILTERS, type CallRow, costOf, filtersOf, latencyOf, localTime, PAGE_SIZE } from './call-list.js';
import { Filters } from './filters.js';
import { SearchedTo } from './searched-to.js';
import { useCalls } from './use-calls.js';
import { When } from './when.js';

export function Calls() {
  const { values, set } = useSearchState(CALL_FILTERS);
  const live = values.live === 'on' && values.page === 1;
  const { query, waiting, notShown, paused } = useCalls(values, live);
  const searchedFrom = query.data?.searchedFrom ?? null;
  const filtered = Object.keys(filtersOf(values)).length > 0;
  const clear = (): void => {
    const { live: _live, call: _call, ...filters } = CALL_FILTERS;
    set(filters);
  };
  return (
    <>
      <PageHeader
        title="Calls"
        description="Every call that reached the gateway and was let through. Prompts and answers are not stored."
        actions={
          <Button
            variant="default"
            leftSection={live ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
            onClick={() => set({ live: live ? 'off' : 'on' })}
          >
            {live ? 'Pause' : 'Live'}
          </Button>
        }
      />
      <Filters values={values} onChange={set} onClear={clear} filtered={filtered} />
      <Group gap="md" mb="xs" mih={24} role="status" aria-live="polite">
        <Text size="sm" c="dimmed" component="div">
          <StatusBadge tone={live && !paused ? 'good' : 'quiet'}>{stateOf(live, paused, waiting)}</StatusBadge>
        </Text>
        {live && notShown > 0 && (
          <Text size="sm" c="dimmed">
            {notShown.toLocaleString('en-US')} earlier ones are not shown: pause to turn pages.
          </Text>
        )}
      </Group>
      {searchedFrom !== null && (
        <SearchedTo
          at={searchedFrom}
          found={query.data?.logs.length ?? 0}
          onFurther={() => set({ live: 'off', to: localTime(searchedFrom), page: 1 })}
        />
      )}
      <DataTable
        label="Calls"
        query={query}
        rows={(data) => data.logs}
        rowKey={({ id }) => id}
        href={({ id }) => hrefOf(id)}
        filtered={filtered}
        onClearFilters={clear}
        {...(searchedFrom === null ? {} : { nothingMatches: 'None of the calls looked at matches' })}
        {...(live
          ? {}
          : {
              paging: ({ total, totalCapped }: { total: number; totalCapped: boolean }) => ({
                page: values.page,
                pageSize: PAGE_SIZE,
                total,
                capped: totalCapped,
                onPage: (page: number) => set({ page, live: 'off' }),
              }),
            })}
        empty={
          <Nothing
            title="No calls yet"
            text="As soon as an agent calls through the gateway, its calls appear here. Refused ones are under Refusals."
          />
        }
        columns={[
          { header: 'When', cell: ({ createdAt }) => <When at={createdAt} /> },
          {
            header: 'Agent',
            cell: ({ agentName, agentId }) => (
              <span className="acg-name">{agentName ?? <Code>{agentId.slice(0, 8)}</Code>}</span>
            ),
          },
          {
            header: 'Call',
            cell: ({ method, path, providerSlug }) => (
              <Text size="sm" span className="acg-break acg-call" lineClamp={2} title={`${method} ${path}`}>
                {providerSlug} <Code>{method}</Code> {path}
              </Text>
            ),
          },
          { header: 'Status', cell: CallStatus },
          { header: 'Model', cell: ({ model }) => model ?? '–', wideOnly: true },
          { header: 'Tokens in → out', numeric: true, cell: tokensText },
          { header: 'Cost', numeric: true, cell: (call) => usd(costOf(call)) },
          { header: 'Time', numeric: true, cell: latencyOf },
        ]}
      />
      <CallDrawer
        id={values.call}
        known={query.data?.logs ?? []}
        onClose={() => set({ call: '', page: values.page })}
        onFilter={(changes) => set({ ...changes, call: '' })}
      />
    </>
  );

  /** The same list with the drawer open. */
  function hrefOf(id: string): string {
    const search = new URLSearchParams(globalThis.location.search);
    search.set('call', id);
    return `/calls?${search.toString()}`;
  }
}

function stateOf(live: boolean, paused: boolean, waitSeconds: number): string {
  if (!live) return 'Paused';
  if (paused) return 'Live, waits while you read';
  return waitSeconds > 0 ? `Live, again in ${waitSeconds} s: many look at calls now` : 'Live';
}

const tokensText = ({ tokensIn, tokensOut }: CallRow): string =>
  tokensIn + tokensOut === 0 ? '–' : `${tokensIn.toLocaleString('en-US')} → ${tokensOut.toLocaleString('en-US')}`;
