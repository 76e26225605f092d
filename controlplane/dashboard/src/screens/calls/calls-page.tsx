/** The Calls page: a live list or pages of all agents' calls, with their details. No bodies are stored. */
import { Box, Button, Code, Group, Text } from '@mantine/core';
import { Download, Pause, Play } from 'lucide-react';
import { CallStatusBadge } from '../../components/feedback/call-status-badge.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { FilterChips } from '../../components/tables/filter-chips.js';
import { formatUsd } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { useCallChips } from './call-chips.js';
import { saveCallsCsv } from './call-csv.js';
import { CallDrawer } from './call-drawer.js';
import { CallFilterBar } from './call-filters.js';
import { CallHistogram } from './call-histogram.js';
import { CallTime } from './call-time.js';
import {
  type CallRow,
  costUsdOf,
  DEFAULT_CALL_FILTERS,
  formatLatency,
  PAGE_SIZE,
  toApiFilters,
} from './fetch-calls-and-format-fields.js';
import { useLiveOrPagedCalls } from './use-live-or-paged-calls.js';

export function CallsPage() {
  const { values, set } = useUrlState(DEFAULT_CALL_FILTERS);
  const live = values.live === 'on' && values.page === 1;
  const { query, waitSeconds, hiddenCount, isPaused } = useLiveOrPagedCalls(values, live);
  const searchedFrom = query.data?.searchedFrom ?? null;
  const filtered = Object.keys(toApiFilters(values)).length > 0;
  const chips = useCallChips(values, query.data?.logs ?? [], set);
  const clear = (): void => {
    const { live: _live, call: _call, ...filters } = DEFAULT_CALL_FILTERS;
    set(filters);
  };
  return (
    <>
      <PageHeader
        title="Calls"
        description="Every call that the gateway forwarded. Prompts and responses are not stored."
        actions={
          <Group gap="sm">
            <Button
              variant="default"
              leftSection={<Download size={14} aria-hidden />}
              onClick={() => saveCallsCsv(query.data?.logs ?? [])}
              title="The calls that the list shows"
            >
              Export list as CSV
            </Button>
            <Button
              variant="default"
              leftSection={live ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
              onClick={() => set({ live: live ? 'off' : 'on' })}
            >
              {live ? 'Pause' : 'Live'}
            </Button>
          </Group>
        }
      />
      <CallFilterBar values={values} onChange={set} />
      <FilterChips chips={chips} onClear={clear} />
      {!live && (
        <Box mb="md">
          <CallHistogram
            agentId={values.agent}
            projectId={values.project}
            from={values.from}
            to={values.to}
            onSelect={(from, to) => set({ from, to, live: 'off' })}
          />
        </Box>
      )}
      <Group gap="md" mb="xs" mih={24} role="status" aria-live="polite">
        <Text size="sm" c="dimmed" component="div">
          <StatusBadge tone={live && !isPaused ? 'success' : 'neutral'}>
            {liveStatusText(live, isPaused, waitSeconds)}
          </StatusBadge>
        </Text>
        {live && hiddenCount > 0 && (
          <Text size="sm" c="dimmed">
            {hiddenCount.toLocaleString('en-US')} earlier calls are not shown. Pause to browse them.
          </Text>
        )}
      </Group>
      {searchedFrom !== null && (
        <SearchLimitNotice
          at={searchedFrom}
          found={query.data?.logs.length ?? 0}
          onSearchOlder={() => set({ live: 'off', to: searchedFrom, page: 1 })}
        />
      )}
      <DataTable
        label="Calls"
        isDense
        query={query}
        rows={(data) => data.logs}
        rowKey={({ id }) => id}
        href={({ id }) => hrefOf(id)}
        filtered={filtered}
        onClearFilters={clear}
        {...(searchedFrom === null ? {} : { nothingMatches: 'No matches in the calls searched so far' })}
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
          <EmptyState
            title="No calls yet"
            text="Calls appear here as soon as an agent makes one. Rejected calls are under Rejections."
          />
        }
        columns={[
          { header: 'Time', cell: ({ createdAt }) => <CallTime at={createdAt} /> },
          {
            header: 'Agent',
            cell: ({ agentName, agentId }) => (
              <span className="acg-name">{agentName ?? <Code>{agentId.slice(-8)}</Code>}</span>
            ),
          },
          {
            header: 'Call',
            cell: ({ method, path, providerSlug }) => (
              <Text size="sm" span className="acg-call-path acg-one-line" title={`${method} ${path}`}>
                {providerLabel(providerSlug)} <Code>{method}</Code> {path}
              </Text>
            ),
          },
          { header: 'Status', cell: CallStatusBadge },
          {
            header: 'Model',
            cell: ({ model }) => (
              <span className="acg-one-line acg-model" title={model ?? ''}>
                {model ?? '–'}
              </span>
            ),
            wideOnly: true,
          },
          { header: 'Tokens in → out', numeric: true, cell: formatTokens },
          { header: 'Cost', numeric: true, cell: (call) => formatUsd(costUsdOf(call)) },
          { header: 'Duration', numeric: true, cell: formatLatency },
        ]}
      />
      <CallDrawer
        id={values.call}
        loadedCalls={query.data?.logs ?? []}
        onClose={() => set({ call: '', page: values.page })}
        onFilter={(changes) => set({ ...changes, call: '' })}
      />
    </>
  );

  /** Address of the current list with the drawer open. */
  function hrefOf(id: string): string {
    const search = new URLSearchParams(globalThis.location.search);
    search.set('call', id);
    return `/calls?${search.toString()}`;
  }
}

function liveStatusText(live: boolean, isPaused: boolean, waitSeconds: number): string {
  if (!live) return 'Paused';
  if (isPaused) return 'Live, paused while you read';
  return waitSeconds > 0 ? `Live, next update in ${waitSeconds} s: many users are watching calls` : 'Live';
}

const formatTokens = ({ tokensIn, tokensOut }: CallRow): string =>
  tokensIn + tokensOut === 0 ? '–' : `${tokensIn.toLocaleString('en-US')} → ${tokensOut.toLocaleString('en-US')}`;

interface SearchLimitNoticeProps {
  readonly at: string;
  readonly found: number;
  readonly onSearchOlder: () => void;
}

/** Shows how far back a search has looked, with a button to continue it. */
function SearchLimitNotice({ at, found, onSearchOlder }: SearchLimitNoticeProps) {
  return (
    <Group gap="md" mb="sm" role="status">
      <Text size="sm">
        {found === 0 ? 'No' : found} {found === 1 ? 'match' : 'matches'} since <CallTime at={at} />. Older calls were
        not searched.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onSearchOlder}>
        Search older calls
      </Button>
    </Group>
  );
}
