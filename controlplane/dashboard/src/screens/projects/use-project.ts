/** One project, under one key for its page and its dialog of budgets. */

import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';

const keyOf = (id: string) => ['projects', 'one', id];

const fetchProject = async (id: string) => (await api.get('/v1/projects/{id}', { params: { path: { id } } })).project;
export type Project = Awaited<ReturnType<typeof fetchProject>>;

export const useProject = (id: string) => useQuery({ queryKey: keyOf(id), queryFn: () => fetchProject(id) });

type ProjectPatch = NonNullable<Parameters<typeof api.patch<'/v1/projects/{id}'>>[1]>['body'];

/** Saves changes of a project, and shows its new state wherever the project is shown. */
export async function saveProject(id: string, body: ProjectPatch): Promise<void> {
  const { project } = await api.patch('/v1/projects/{id}', { params: { path: { id } }, body });
  queryClient.setQueryData(keyOf(id), project);
}
