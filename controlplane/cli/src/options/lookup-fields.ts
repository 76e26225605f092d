/** Options whose value names an agent or a project; the request field is its id. */
import { findAgentId } from '../api/find-agent.js';
import { findProjectId } from '../api/find-by-name.js';
import { type Field, mapField, textField } from './field.js';

export const agentIdField = (help: string): Field<string> =>
  mapField(textField('--agent <agent>', help), (agent, run) => findAgentId(run, agent));

/** Not `--project`, which selects where a command looks for resources. */
export const onlyProjectIdField = (help: string): Field<string> =>
  mapField(textField('--only-project <project>', help), async (project, run) =>
    findProjectId(await run.getClient(), project),
  );
