/** Finds the project in which the user has, or may have, a personal agent. */
import type { Invocation } from '../invocation/invocation.js';
import { CliError, EXIT_CODES, usage } from '../terminal/cli-error.js';
import { fetchAllRows, type RowOf } from './call-api-operation.js';
import { isUuid } from './find-by-name.js';

type PersonalAgentProject = RowOf<'GET /v1/personal-agents', 'personalAgents'>;

export const listPersonalAgents = async (run: Invocation): Promise<readonly PersonalAgentProject[]> =>
  fetchAllRows(await run.getClient(), 'GET /v1/personal-agents', 'personalAgents');

/** Returns the project that the settings name, else the only one that allows personal agents. */
export async function findPersonalAgentProject(run: Invocation): Promise<PersonalAgentProject> {
  const rows = await listPersonalAgents(run);
  const { project } = run.settings;
  const isNamed = ({ projectId, projectSlug, projectName }: PersonalAgentProject): boolean =>
    project === null ||
    (isUuid(project)
      ? projectId === project.toLowerCase()
      : projectSlug === project || projectName.toLowerCase() === project.toLowerCase());
  const found = rows.filter(isNamed);
  if (found.length > 1)
    throw usage(
      `${found.length} projects allow personal agents: ${found.map(({ projectSlug }) => projectSlug).join(', ')}`,
      'name one with --project, or ACG_PROJECT',
    );
  if (found[0] !== undefined) return found[0];
  throw new CliError(
    EXIT_CODES.forbidden,
    project === null ? 'no project allows personal agents' : `the project ${project} does not allow personal agents`,
    { hint: 'ask an admin: acg projects set <project> --personal-agents <credentials>' },
  );
}
