/** Compares the agents that were selected in the list or that the URL names. */
import { Anchor, Group, SegmentedControl } from '@mantine/core';
import { Link } from 'wouter';
import { AgentComparison } from '../../components/agents/agent-comparison.js';
import { parseTimeRange, TIME_RANGE_DEFAULTS, TimeRangeControl } from '../../components/forms/time-range-control.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { useUrlState } from '../../hooks/use-url-state.js';

const DEFAULTS = { ...TIME_RANGE_DEFAULTS, ids: '', show: 'spend' };
const MEASURES = [
  { value: 'spend', label: 'Spend' },
  { value: 'requests', label: 'Calls' },
];

export function CompareAgentsPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const show = values.show === 'requests' ? 'requests' : 'spend';
  return (
    <>
      <Anchor component={Link} href="/agents" size="sm">
        All agents
      </Anchor>
      <PageHeader title="Compare agents" description="Days are UTC." />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <SegmentedControl
          aria-label="Chart metric"
          data={MEASURES}
          value={show}
          onChange={(value) => set({ show: value })}
        />
        <TimeRangeControl values={values} onChange={set} />
      </Group>
      <AgentComparison
        title="Figures and budgets"
        range={parseTimeRange(values)}
        ids={values.ids === '' ? [] : values.ids.split(',')}
        metric={show}
        onChange={(ids) => set({ ids: ids.join(',') })}
      />
    </>
  );
}
