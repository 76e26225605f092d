/** The filters of the calls in words, for the chips above the list. */

import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { sharedFieldsOf } from '../../components/reports/merged-call.js';
import type { FilterChip } from '../../components/tables/filter-chips.js';
import { formatExactTime, formatUsd } from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { rejectionLabel } from '../../messages/rejection-label.js';
import { useAgent, useProjects } from '../../resources/agent-account-and-key-hooks.js';
import type { CallFilters, CallRow } from './fetch-calls-and-format-fields.js';

const CENTS = 100;

/** `rows`: the loaded calls, which know the names of their agents and tokens. */
export function useCallChips(
  values: CallFilters,
  rows: readonly CallRow[],
  set: (changes: Partial<CallFilters>) => void,
): readonly FilterChip[] {
  const projects = useProjects();
  const agent = useAgent(values.agent);
  const run = useQuery({
    queryKey: ['runs', 'one', values.run],
    queryFn: async () => (await api.get('/v1/runs/{id}', { params: { path: { id: values.run } } })).run,
    enabled: values.run !== '',
    retry: false,
  });
  const key = rows.map(sharedFieldsOf).find(({ keyId }) => keyId === values.key);
  const texts: Readonly<Partial<Record<keyof CallFilters, string>>> = {
    search: `Contains: ${values.search}`,
    agent: `Agent: ${agent.data?.name ?? shortId(values.agent)}`,
    project: `Project: ${projects.data?.find(({ id }) => id === values.project)?.name ?? shortId(values.project)}`,
    key: `Gateway token: ${key?.keyName ?? shortId(values.key)}`,
    run: `Run: ${run.data === undefined || run.data.label === '' ? shortId(values.run) : run.data.label}`,
    provider: `Provider: ${providerLabel(values.provider)}`,
    model: `Model: ${values.model}`,
    status: `Status: ${values.status}`,
    state: values.state === 'rejected' ? 'Rejected calls' : 'Forwarded calls',
    reason: `Reason: ${rejectionLabel(values.reason)}`,
    minCost: `Cost from ${formatUsd(Number(values.minCost) / CENTS)}`,
    from: `From ${formatIfTime(values.from)}`,
    to: `To ${formatIfTime(values.to)}`,
  };
  return Object.entries(texts)
    .filter(([name]) => values[name as keyof CallFilters] !== '')
    .map(([name, text]) => ({ text, onRemove: () => set({ [name]: '' }) }));
}

/** The end of an id: its start is the time of its creation, which neighbours share. */
const shortId = (id: string): string => id.slice(-8);
const formatIfTime = (text: string): string => (Number.isNaN(Date.parse(text)) ? text : formatExactTime(text));
