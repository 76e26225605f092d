/** Who spends what: sums of a time, by group as chart and table, against the budgets, and as a file. */
import { Button, Group, NativeSelect, SegmentedControl, Stack } from '@mantine/core';
import { Download } from 'lucide-react';
import { BASE_PATH } from '../../api/page-facts.js';
import { AgentChoice } from '../../parts/agent-choice.js';
import { CompareAgents } from '../../parts/compare-agents.js';
import { PageHeader } from '../../parts/page-header.js';
import { RANGE_DEFAULTS, RangeControl, rangeOf } from '../../parts/range-control.js';
import { useSearchState } from '../../parts/search-state.js';
import { useProjects } from '../../resources/agents.js';
import { Breakdown } from './breakdown.js';
import { GROUPS, groupOf, MEASURES, measureOf } from './groups.js';
import { OverTime } from './over-time.js';
import { Sums } from './sums.js';

const DEFAULTS = { ...RANGE_DEFAULTS, by: 'provider', show: 'spend', agent: '', project: '', compare: '', page: 1 };

export function Usage() {
  const { values, set, clear } = useSearchState(DEFAULTS);
  const projects = useProjects();
  const by = groupOf(values.by);
  const measure = measureOf(values.show, by);
  const query = {
    ...rangeOf(values),
    ...(values.agent === '' ? {} : { agentId: values.agent }),
    ...(values.project === '' ? {} : { projectId: values.project }),
  };
  const file = `${BASE_PATH}/v1/usage/export?${new URLSearchParams({ ...query, format: 'csv' })}`;
  return (
    <>
      <PageHeader
        title="Usage & cost"
        description="What calls have cost, as the gateway booked them. Days and hours are UTC. What deleted agents spent still counts."
        actions={
          <Button
            variant="default"
            component="a"
            href={file}
            download
            leftSection={<Download size={16} aria-hidden />}
            title="Every call of this time and these filters"
          >
            Calls as CSV
          </Button>
        }
      />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <NativeSelect
          label="By"
          data={[...GROUPS]}
          value={by}
          onChange={(event) => set({ by: event.currentTarget.value })}
        />
        <NativeSelect
          label="Project"
          data={[
            { value: '', label: 'All projects' },
            ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={values.project}
          onChange={(event) => set({ project: event.currentTarget.value, agent: '' })}
        />
        <AgentChoice
          label="Agent"
          placeholder="All agents"
          w={200}
          value={values.agent}
          onChange={(agent) => set({ agent, project: '' })}
        />
        <RangeControl values={values} onChange={set} />
      </Group>
      <Stack gap="lg">
        <Sums query={query} />
        <Stack gap="sm">
          {by !== 'status' && (
            <Group>
              <SegmentedControl
                aria-label="Figure of the chart"
                size="xs"
                data={MEASURES.map(({ value, label }) => ({ value, label }))}
                value={measure.value}
                onChange={(show) => set({ show, page: values.page })}
              />
            </Group>
          )}
          <OverTime query={query} by={by} measure={measure} />
        </Stack>
        <Breakdown
          query={query}
          by={by}
          page={values.page}
          filtered={values.agent !== '' || values.project !== ''}
          onPage={(page) => set({ page })}
          onProject={(project) => set({ project, agent: '', by: 'agent' })}
          onClear={clear}
        />
        <CompareAgents
          title="Compare agents"
          range={rangeOf(values)}
          show={measure.value === 'requests' ? 'requests' : 'spend'}
          ids={values.compare === '' ? [] : values.compare.split(',')}
          onChange={(ids) => set({ compare: ids.join(','), page: values.page })}
        />
      </Stack>
    </>
  );
}
