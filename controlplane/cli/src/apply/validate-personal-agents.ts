/** Validates the setting `personalAgents` of a project by the rules of the API, before the first change. */
import { usage } from '../terminal/cli-error.js';
import type { OrgState } from './org-state.js';
import type { Change } from './plan-changes.js';

interface SettingCredential {
  readonly name: string;
  readonly provider: string;
  /** Name of the only project that may use it; null: all may. */
  readonly project: string | null;
}

/** The shared credentials that exist, and those that the plan creates. */
export function listSettingCredentials(changes: readonly Change[], state: OrgState): readonly SettingCredential[] {
  const existing = state.sharedCredentials.map(({ name, providerSlug: provider, projectId }) => ({
    name,
    provider,
    project: state.projects.find(({ id }) => id === projectId)?.name ?? null,
  }));
  const created = changes.flatMap((change) =>
    change.action === 'create' && change.type === 'sharedCredential' ? [change.credential] : [],
  );
  return [...existing, ...created.map(({ name, provider, project = null }) => ({ name, provider, project }))];
}

/** Throws for a name that is unknown, ambiguous or listed twice, a credential of another project, and two of one provider. */
export function validatePersonalSetting(
  project: string,
  names: readonly string[],
  credentials: readonly SettingCredential[],
): void {
  const nameByProvider = new Map<string, string>();
  for (const name of names) {
    const [credential, ...others] = credentials.filter((row) => row.name === name);
    if (credential === undefined)
      throw usage(`${project}: there is no shared credential ${name}`, 'acg credentials ls');
    if (others.length > 0)
      throw usage(`${project}: there are ${others.length + 1} shared credentials ${name}: rename them`);
    if (credential.project !== null && credential.project !== project)
      throw usage(`${project}: the shared credential ${name} is for agents of the project ${credential.project}`);
    const { provider } = credential;
    const former = nameByProvider.get(provider);
    if (former === name) throw usage(`${project}: personalAgents lists ${name} twice`);
    if (former !== undefined)
      throw usage(`${project}: ${former} and ${name} are of ${provider}: an agent has one account a provider`);
    nameByProvider.set(provider, name);
  }
}
