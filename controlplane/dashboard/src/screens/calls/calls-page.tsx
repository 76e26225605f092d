/** The Calls page: a live list or pages of all agents' calls, with their details. No bodies are stored. */
import { Box, Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download, Pause, Play } from 'lucide-react';
import { useRef } from 'react';
import { useMissingRoleReason } from '../../api/session.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { FilterChips } from '../../components/tables/filter-chips.js';
import { formatCount } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useCallChips } from './call-chips.js';
import { callColumns } from './call-columns.js';
import { CallDrawer } from './call-drawer.js';
import { CallFilterBar } from './call-filters.js';
import { CallHistogram } from './call-histogram.js';
import { CallTime } from './call-time.js';
import {
  type CallFilters,
  type CallPage,
  DEFAULT_CALL_FILTERS,
  EXPORT_ROWS_MAX,
  toApiFilters,
} from './fetch-calls-and-format-fields.js';
import { useLiveOrPagedCalls } from './use-live-or-paged-calls.js';

export function CallsPage() {
  const { values, set: setValues } = useUrlState(DEFAULT_CALL_FILTERS);
  // A changed filter begins with the newest call again.
  const set = (changes: Partial<CallFilters>, options?: { readonly replace?: boolean }): void =>
    setValues({ cursor: '', ...changes }, options);
  const pageBefore = useRef(new Map<string, string>());
  const live = values.live === 'on' && values.cursor === '';
  const { query, waitSeconds, isPaused } = useLiveOrPagedCalls(values, live);
  const searchedFrom = query.data?.searchedFrom ?? null;
  const mayListRejected = useMissingRoleReason('admin') === null;
  const filtered = Object.keys(toApiFilters(values)).length > 0;
  const chips = useCallChips(values, query.data?.calls ?? [], set);
  const exportList = useMutation({
    mutationFn: async () =>
      (await import('./call-csv.js')).exportCalls(
        values,
        chips.map(({ text }) => text),
      ),
    onSuccess: ({ count, isComplete }) =>
      isComplete ||
      showToast(
        `The file has the newest ${formatCount(count)} calls. Older ones may match too: choose a time in From and To to save them.`,
        'yellow',
      ),
    onError: showErrorToast,
  });
  const clear = (): void => {
    const { live: _live, call: _call, ...filters } = DEFAULT_CALL_FILTERS;
    set(filters);
  };
  return (
    <>
      <PageHeader
        title="Calls"
        description={
          mayListRejected
            ? 'Every call that the gateway forwarded, and a sample of those that it rejected; Rejections counts all. Prompts and responses are not stored.'
            : 'Every call that the gateway forwarded. Prompts and responses are not stored.'
        }
        actions={
          <Group gap="sm">
            <Button
              variant="default"
              leftSection={<Download size={14} aria-hidden />}
              loading={exportList.isPending}
              onClick={() => exportList.mutate()}
              title={`Every call that matches the filters, up to ${formatCount(EXPORT_ROWS_MAX)}`}
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
      <CallFilterBar values={values} isFiltered={filtered} onChange={set} />
      <FilterChips chips={chips} onClear={clear} />
      <Box mb="md">
        <CallHistogram filters={values} onSelect={(from, to) => set({ from, to, live: 'off' })} />
      </Box>
      <Group gap="md" mb="xs" mih={24} role="status" aria-live="polite">
        <Text size="sm" c="dimmed" component="div">
          <StatusBadge tone={live && !isPaused ? 'success' : 'neutral'}>
            {liveStatusText(live, isPaused, waitSeconds)}
          </StatusBadge>
        </Text>
      </Group>
      {searchedFrom !== null && (
        <SearchLimitNotice
          at={searchedFrom}
          found={query.data?.calls.length ?? 0}
          onSearchOlder={() => set({ live: 'off', cursor: query.data?.nextCursor ?? '' })}
        />
      )}
      <DataTable
        label="Calls"
        isDense
        query={query}
        rows={(data) => data.calls}
        rowKey={({ id }) => id}
        href={({ id }) => hrefOf(id)}
        nothingMatches={
          mayListRejected && values.state !== 'forwarded'
            ? 'Nothing matches these filters. The list has only a sample of the rejected calls.'
            : 'Nothing matches these filters'
        }
        filtered={filtered}
        onClearFilters={clear}
        {...(searchedFrom === null ? {} : { nothingMatches: 'No matches in the calls searched so far' })}
        cursorPaging={({ nextCursor }: CallPage) => ({
          onNewest: values.cursor === '' ? null : () => set({}),
          onNewer: newerPage(),
          onOlder: nextCursor === null || searchedFrom !== null ? null : () => openOlderPage(nextCursor),
        })}
        empty={<EmptyState title="No calls yet" text="Calls appear here as soon as an agent makes one." />}
        columns={callColumns()}
      />
      <CallDrawer
        id={values.call}
        loadedCalls={query.data?.calls ?? []}
        onClose={() => set({ call: '', cursor: values.cursor })}
        onFilter={(changes) => set({ ...changes, call: '' })}
      />
    </>
  );

  function openOlderPage(cursor: string): void {
    pageBefore.current.set(cursor, values.cursor);
    set({ cursor, live: 'off' });
  }

  /** Null: the page before is not known, as after opening a link. */
  function newerPage(): (() => void) | null {
    const cursor = pageBefore.current.get(values.cursor);
    return cursor === undefined ? null : () => set({ cursor, live: 'off' });
  }

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
