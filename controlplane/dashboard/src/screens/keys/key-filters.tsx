/** Filters of the gateway token list; their state is in the URL. */
import { NativeSelect } from '@mantine/core';
import { FilterBar } from '../../components/forms/filter-bar.js';
import { SearchInput } from '../../components/forms/search-input.js';
import type { useUrlState } from '../../hooks/use-url-state.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { type DEFAULT_KEY_FILTERS, STATUSES } from './fetch-keys-and-describe-status.js';

type State = ReturnType<typeof useUrlState<typeof DEFAULT_KEY_FILTERS>>;

export function KeyFilters({ values, set }: Pick<State, 'values' | 'set'>) {
  const projects = useProjects();
  return (
    <FilterBar isFiltered={values.search + values.project + values.status !== ''}>
      <SearchInput
        label="Search gateway tokens"
        placeholder="Name, agent or prefix"
        value={values.search}
        onChange={(search) => set({ search }, { replace: true })}
      />
      <NativeSelect
        aria-label="Project"
        data={[
          { value: '', label: 'All projects' },
          ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={values.project}
        onChange={(event) => set({ project: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label="Status"
        data={[{ value: '', label: 'Active or expired' }, ...STATUSES]}
        value={values.status}
        onChange={(event) => set({ status: event.currentTarget.value })}
      />
    </FilterBar>
  );
}
