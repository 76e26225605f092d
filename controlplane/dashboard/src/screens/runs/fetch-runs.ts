/** Queries of runs, and how their state is shown. */
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';

export const PAGE_SIZE = 50;
/** The tree of a run is read in one response of this many runs. */
const TREE_SIZE = 100;

export const DEFAULT_RUN_FILTERS = { page: 1, state: '', agent: '', search: '' };
export const RUN_SORTS = ['createdAt', 'label', 'agentName', 'spentCents', 'calls', 'end'] as const;

type RunFilters = typeof DEFAULT_RUN_FILTERS & {
  readonly sort: (typeof RUN_SORTS)[number];
  readonly order: 'asc' | 'desc';
};

export const RUN_STATES = [
  { value: 'running', label: 'Running' },
  { value: 'ended', label: 'Ended' },
  { value: 'expired', label: 'Expired' },
] as const;
type RunState = (typeof RUN_STATES)[number]['value'];

export const fetchRuns = ({ page, state, agent, search, sort, order }: RunFilters) =>
  api.get('/v1/runs', {
    params: {
      query: {
        sort,
        order,
        limit: PAGE_SIZE,
        offset: (page - 1) * PAGE_SIZE,
        ...(state === '' ? {} : { state: state as RunState }),
        ...(agent === '' ? {} : { agentId: agent }),
        ...(search === '' ? {} : { search }),
      },
    },
  });
export type Run = Awaited<ReturnType<typeof fetchRuns>>['runs'][number];

/** All runs of the tree of a run, parents before their sub-runs. */
export async function fetchTree(id: string): Promise<{ run: Run; runs: readonly Run[]; total: number }> {
  const { run } = await api.get('/v1/runs/{id}', { params: { path: { id } } });
  const query = { rootId: run.rootId, limit: TREE_SIZE };
  const { runs, total } = await api.get('/v1/runs', { params: { query } });
  return { run, runs: sortByTree(runs), total };
}

/** Each run is followed by its sub-runs, oldest first. A run whose parent is not among them stands like a top run. */
function sortByTree(newestFirst: readonly Run[]): readonly Run[] {
  const runs = [...newestFirst].reverse();
  const known = new Set(runs.map(({ id }) => id));
  const walk = (parent: string | null): Run[] =>
    runs
      .filter(({ parentId }) => (parentId !== null && known.has(parentId) ? parentId : null) === parent)
      .flatMap((run) => [run, ...walk(run.id)]);
  return walk(null);
}

export const runName = ({ label, id }: Run): string => (label === '' ? `Run ${id.slice(-8)}` : label);

export function describeRunState({ state, spentCents, budgetCents }: Run) {
  if (state === 'running')
    return spentCents >= budgetCents
      ? ({ tone: 'error', text: 'Over budget' } as const)
      : ({ tone: 'success', text: 'Running' } as const);
  return { tone: 'neutral', text: state === 'ended' ? 'Ended' : 'Expired' } as const;
}

export const refreshRuns = (): void => void queryClient.invalidateQueries({ queryKey: ['runs'] });
