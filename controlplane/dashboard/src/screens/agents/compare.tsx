/** Agents side by side, as somebody ticked them in the list or as an address names them. */
import { Anchor, Group, SegmentedControl } from '@mantine/core';
import { Link } from 'wouter';
import { CompareAgents } from '../../parts/compare-agents.js';
import { PageHeader } from '../../parts/page-header.js';
import { RANGE_DEFAULTS, RangeControl, rangeOf } from '../../parts/range-control.js';
import { useSearchState } from '../../parts/search-state.js';

const DEFAULTS = { ...RANGE_DEFAULTS, ids: '', show: 'spend' };
const MEASURES = [
  { value: 'spend', label: 'Spend' },
  { value: 'requests', label: 'Calls' },
];

export function Compare() {
  const { values, set } = useSearchState(DEFAULTS);
  const show = values.show === 'requests' ? 'requests' : 'spend';
  return (
    <>
      <Anchor component={Link} href="/agents" size="sm">
        All agents
      </Anchor>
      <PageHeader title="Compare agents" description="Days and hours are UTC." />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <SegmentedControl
          aria-label="Figure of the chart"
          data={MEASURES}
          value={show}
          onChange={(value) => set({ show: value })}
        />
        <RangeControl values={values} onChange={set} />
      </Group>
      <CompareAgents
        title="Figures and budgets"
        range={rangeOf(values)}
        ids={values.ids === '' ? [] : values.ids.split(',')}
        show={show}
        onChange={(ids) => set({ ids: ids.join(',') })}
      />
    </>
  );
}
