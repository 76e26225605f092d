/** Queries of runs, and how their state is shown. */
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { CENTS_PER_USD, formatCount } from '../../format/format.js';

export const PAGE_SIZE = 50;
/** A tree with at most so many runs is shown as a whole. */
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

interface RunTree {
  readonly run: Run;
  readonly runs: readonly Run[];
  /** The number of sub-runs of the run, of which `runs` is a page; null: `runs` is the whole tree. */
  readonly subRuns: number | null;
}

/** The whole tree of a run, parents before their sub-runs; of a larger tree a page of the run's own sub-runs, newest first. */
export async function fetchTree(id: string, page: number): Promise<RunTree> {
  const { run } = await api.get('/v1/runs/{id}', { params: { path: { id } } });
  const list = (query: { rootId?: string; parentId?: string; limit: number; offset?: number }) =>
    api.get('/v1/runs', { params: { query } });
  const tree = await list({ rootId: run.rootId, limit: TREE_SIZE });
  if (tree.total <= TREE_SIZE) return { run, runs: sortByTree(tree.runs), subRuns: null };
  const { runs, total } = await list({ parentId: id, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE });
  return { run, runs: total === 0 ? [run] : runs, subRuns: total };
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

/** The API counts up to this. */
const SUB_RUNS_COUNTED_MAX = 1_000;
export const formatSubRuns = (subRuns: number): string =>
  subRuns < SUB_RUNS_COUNTED_MAX ? formatCount(subRuns) : `${formatCount(SUB_RUNS_COUNTED_MAX)} or more`;

export const runName = ({ label, id }: Run): string => (label === '' ? `Run ${id.slice(-8)}` : label);

export function describeRunState({ state, spentUsd, budgetCents }: Run) {
  if (state === 'running')
    return spentUsd >= budgetCents / CENTS_PER_USD
      ? ({ tone: 'error', text: 'Over budget' } as const)
      : ({ tone: 'success', text: 'Running' } as const);
  return { tone: 'neutral', text: state === 'ended' ? 'Ended' : 'Expired' } as const;
}

export const refreshRuns = (): void => void queryClient.invalidateQueries({ queryKey: ['runs'] });
