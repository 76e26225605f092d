/** Calls that the gateway did not let through: why, whose, and what to do about it. */
import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/api.js';
import { count } from '../../format/format.js';
import { AgentChoice } from '../../parts/agent-choice.js';
import { Chart } from '../../parts/chart.js';
import { DataTable } from '../../parts/data-table.js';
import { Failure } from '../../parts/failure.js';
import { seriesOfGroups } from '../../parts/group-series.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { RANGE_DEFAULTS, RangeControl, rangeOf } from '../../parts/range-control.js';
import { useSearchState } from '../../parts/search-state.js';
import { RefusedAgents } from './refused-agents.js';
import { WhatToDo } from './what-to-do.js';

const DEFAULTS = { ...RANGE_DEFAULTS, agent: '' };
/** Refusals are counted every few seconds. */
const EVERY_MS = 5_000;

export function Refusals() {
  const { values, set, clear } = useSearchState(DEFAULTS);
  const range = rangeOf(values);
  const query = { ...range, ...(values.agent === '' ? {} : { agentId: values.agent }) };
  const refusals = useQuery({
    queryKey: ['usage', 'refusals', query],
    queryFn: () => api.get('/v1/usage/refusals', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
  return (
    <>
      <PageHeader
        title="Refusals"
        description="Calls that the gateway did not let through, counted within some five seconds; they cost nothing and are not under Calls. A token that nobody issued belongs to no organization: calls with one are not counted here."
      />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <AgentChoice
          aria-label="Agent"
          placeholder="Any agent"
          w={220}
          value={values.agent}
          onChange={(agent) => set({ agent })}
        />
        <RangeControl values={values} onChange={set} />
        {values.agent !== '' && (
          <Button variant="subtle" onClick={() => set({ agent: '' })}>
            All agents
          </Button>
        )}
      </Group>
      <Stack gap="lg">
        <DataTable
          label="Refusals by reason"
          query={refusals}
          rows={(data) => data.refusals}
          rowKey={({ reason }) => reason}
          filtered={values.agent !== ''}
          onClearFilters={clear}
          columns={[
            {
              header: 'Reason',
              cell: ({ reason }) => (
                <Text size="sm" ff="monospace" span>
                  {reason}
                </Text>
              ),
            },
            { header: 'Refused', numeric: true, cell: (row) => count(row.count) },
            {
              header: 'What to do',
              cell: ({ reason }) => <WhatToDo reason={reason} agentId={values.agent === '' ? null : values.agent} />,
            },
          ]}
          empty={<Nothing title="Nothing was refused in this time" text="Every call that came was let through." />}
        />
        {refusals.data !== undefined && refusals.data.refusals.length > 0 && <OverTime query={query} />}
        {values.agent === '' && (
          <section aria-labelledby="refused-agents">
            <Title order={2} id="refused-agents" mb="sm">
              Agents refused most
            </Title>
            <RefusedAgents range={range} onChoose={(agent) => set({ agent })} />
          </section>
        )}
      </Stack>
    </>
  );
}

interface OverTimeProps {
  readonly query: ReturnType<typeof rangeOf> & { readonly agentId?: string };
}

function OverTime({ query }: OverTimeProps) {
  const asked = { ...query, groupBy: 'reason' as const };
  const series = useQuery({
    queryKey: ['usage', 'timeseries', asked],
    queryFn: () => api.get('/v1/usage/timeseries', { params: { query: asked } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const data = series.data;
  const buckets = useMemo(() => data?.timeseries.map(({ bucket }) => bucket) ?? [], [data]);
  const groups = useMemo(
    () =>
      seriesOfGroups(
        data?.groups ?? [],
        (reason) => reason.replaceAll('_', ' '),
        ({ rejectedRequests }) => rejectedRequests,
      ),
    [data],
  );
  if (data === undefined)
    return series.error === null ? null : <Failure error={series.error} onRetry={series.refetch} />;
  return (
    <Chart
      title="Refused over time"
      stale={series.isPlaceholderData}
      buckets={buckets}
      interval={data.interval}
      series={groups}
      format={count}
    />
  );
}
