/** Computes the changes that bring an organization to the state of a document. Pure: sends no requests. */
import { isDeepStrictEqual } from 'node:util';
import { AGENT_LIMITS } from '@acg/base/limit-definitions';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { comparableFields, defaultOnStoreLoss, mergeBudgetFields } from './budget-fields.js';
import type {
  AccountSpec,
  AgentSpec,
  ConfigDocument,
  Fields,
  ProjectSpec,
  SharedCredentialSpec,
} from './config-document.js';
import { AGENT_FIELDS, CUSTOM_PROVIDER_FIELDS, PARENT_FIELDS } from './config-document.js';
import type { AgentState, OrgState } from './org-state.js';
import { findTrustRuleChanges } from './plan-trust-rules.js';

/** Field → [before, after]. */
type Differences = Readonly<Record<string, readonly [unknown, unknown]>>;

interface NamedChange {
  /** Display name, e.g. `Support bot / openai`. */
  readonly name: string;
}
export type Change = NamedChange &
  (
    | { readonly action: 'create'; readonly type: 'project' | 'customProvider' | 'webhook'; readonly fields: Fields }
    | { readonly action: 'create'; readonly type: 'agent'; readonly project: string; readonly fields: Fields }
    | { readonly action: 'create'; readonly type: 'account'; readonly agent: AgentPath; readonly account: AccountSpec }
    | { readonly action: 'create'; readonly type: 'trustRule'; readonly agent: AgentPath; readonly fields: Fields }
    | { readonly action: 'create'; readonly type: 'sharedCredential'; readonly credential: SharedCredentialSpec }
    | { readonly action: 'update'; readonly type: RowType; readonly id: string; readonly fields: Differences }
    | { readonly action: 'status'; readonly type: 'agent'; readonly agent: AgentPath; readonly fields: Differences }
    | { readonly action: 'delete'; readonly type: RowType; readonly id: string }
  );
export type RowType =
  | 'organization'
  | 'project'
  | 'agent'
  | 'account'
  | 'customProvider'
  | 'sharedCredential'
  | 'webhook'
  | 'trustRule';
/** Identified by names, because project and agent may not exist yet. */
export interface AgentPath {
  readonly project: string;
  readonly agent: string;
}

/** Values that null stands for, where the API shows its default. */
const DEFAULT_LIMITS: Fields = Object.fromEntries(AGENT_LIMITS.map((row) => [row.field, row.default]));

export function planChanges(document: ConfigDocument, state: OrgState, prune: boolean): readonly Change[] {
  const upserts: Change[] = [];
  const deletes: Change[] = [];
  const { organization } = state;
  if (document.organization !== undefined)
    upserts.push(
      ...planUpdate('organization', organization.slug, organization.id, document.organization, organization.fields),
    );
  for (const { slug, ...wanted } of document.customProviders ?? []) {
    const own = findUnique(state.customProviders, (row) => row.slug === slug, `custom provider ${slug}`);
    const fields = pickFields(wanted, CUSTOM_PROVIDER_FIELDS);
    if (own === null)
      upserts.push({ action: 'create', type: 'customProvider', name: slug, fields: { slug, ...fields } });
    else upserts.push(...planUpdate('customProvider', slug, own.id, fields, own.fields));
  }
  for (const project of document.projects ?? []) upserts.push(...planProject(project, state));
  // After the projects, which they may name, and before the accounts, which name them.
  for (const credential of document.sharedCredentials ?? []) {
    const { name } = credential;
    if (findUnique(state.sharedCredentials, (row) => row.name === name, `shared credential ${name}`) === null)
      upserts.push({ action: 'create', type: 'sharedCredential', name, credential });
  }
  for (const project of document.projects ?? []) planAgents(project, state, prune, upserts, deletes);
  for (const { url, ...wanted } of document.webhooks ?? []) {
    const own = findUnique(state.webhooks, (row) => row.url === url, `webhook ${url}`);
    if (own === null) upserts.push({ action: 'create', type: 'webhook', name: url, fields: { url, ...wanted } });
    else upserts.push(...planUpdate('webhook', url, own.id, wanted, { events: own.events, status: own.status }));
  }
  for (const rule of document.trustRules ?? []) {
    const { name, project, agent, ...fields } = rule;
    const own = findUnique(state.trustRules, (row) => row.name === name, `trust rule ${name}`);
    if (own === null)
      upserts.push({
        action: 'create',
        type: 'trustRule',
        name,
        agent: { project, agent },
        fields: { name, ...fields },
      });
    else upserts.push(...planUpdate('trustRule', name, own.id, findTrustRuleChanges(rule, own, state), own.fields));
  }
  if (!prune) return upserts;
  deletes.push(...planPrune(document, state));
  // First, because the deletion of an agent deletes its rules, too.
  return [...upserts, ...planTrustRuleDeletes(document, state), ...deletes];
}

const planTrustRuleDeletes = ({ trustRules }: ConfigDocument, state: OrgState): Change[] =>
  trustRules === undefined
    ? []
    : state.trustRules
        .filter(({ name }) => !trustRules.some((wanted) => wanted.name === name))
        .map(({ id, name }) => ({ action: 'delete', type: 'trustRule', name, id }));

const findProject = (state: OrgState, name: string) =>
  findUnique(state.projects, (row) => row.name === name, `project ${name}`);

function planProject(spec: ProjectSpec, state: OrgState): readonly Change[] {
  const { name } = spec;
  const existing = findProject(state, name);
  const fields = pickFields(spec, PARENT_FIELDS);
  if (existing === null) return [{ action: 'create', type: 'project', name, fields: { name, ...fields } }];
  return planUpdate('project', name, existing.id, fields, existing.fields);
}

function planAgents(spec: ProjectSpec, state: OrgState, prune: boolean, upserts: Change[], deletes: Change[]): void {
  const { name, agents = [] } = spec;
  const existing = findProject(state, name);
  const parents = [existing?.fields ?? {}, state.organization.fields];
  for (const agent of agents) {
    const present = findUnique(
      existing?.agents ?? [],
      (row) => row.name === agent.name,
      `agent ${agent.name} in ${name}`,
    );
    planAgent(name, keepDefaultOnStoreLoss(agent, present, parents), present, prune, upserts, deletes);
  }
  if (!prune || spec.agents === undefined) return;
  for (const { id, name: agent } of existing?.agents ?? []) {
    if (!agents.some((wanted) => wanted.name === agent))
      deletes.push({ action: 'delete', type: 'agent', name: agent, id });
  }
}

/** Null is the default, which the API shows as the value that follows from the budgets. */
function keepDefaultOnStoreLoss(spec: AgentSpec, present: AgentState | null, parents: readonly Fields[]): AgentSpec {
  if (spec.onStoreLoss !== null || present === null) return spec;
  const isDefault = present.fields.onStoreLoss === defaultOnStoreLoss(present.fields, parents);
  return isDefault ? { ...spec, onStoreLoss: present.fields.onStoreLoss } : spec;
}

function planAgent(
  project: string,
  spec: AgentSpec,
  existing: AgentState | null,
  prune: boolean,
  upserts: Change[],
  deletes: Change[],
): void {
  const { name, status, accounts = [] } = spec;
  const path = { project, agent: name };
  const fields = pickFields(spec, AGENT_FIELDS);
  if (existing === null) upserts.push({ action: 'create', type: 'agent', name, project, fields: { name, ...fields } });
  else upserts.push(...planUpdate('agent', name, existing.id, fields, existing.fields));
  const statusNow = existing?.status ?? 'active';
  if (status !== undefined && status !== statusNow) {
    upserts.push({ action: 'status', type: 'agent', name, agent: path, fields: { status: [statusNow, status] } });
  }
  for (const account of accounts) {
    const label = `${name} / ${account.provider}`;
    const present = findUnique(
      existing?.accounts ?? [],
      (row) => row.provider === account.provider,
      `account ${label}`,
    );
    if (present === null) upserts.push({ action: 'create', type: 'account', name: label, agent: path, account });
    else
      upserts.push(
        ...planUpdate('account', label, present.id, pickFields(account, ['allowSensitivePaths', 'allowOpaque']), {
          ...present,
        }),
      );
  }
  if (!prune || spec.accounts === undefined) return;
  for (const { id, provider } of existing?.accounts ?? []) {
    if (!accounts.some((wanted) => wanted.provider === provider))
      deletes.push({ action: 'delete', type: 'account', name: `${name} / ${provider}`, id });
  }
}

/** Deletes resources that the document does not list, in the sections that it mentions. */
function planPrune(document: ConfigDocument, state: OrgState): Change[] {
  const { projects, customProviders, sharedCredentials, webhooks } = document;
  const toDeletes = <Row extends { readonly id: string }>(
    type: RowType,
    rows: readonly Row[],
    nameOf: (row: Row) => string,
  ) => rows.map((row): Change => ({ action: 'delete', type, name: nameOf(row), id: row.id }));
  return [
    ...(projects === undefined
      ? []
      : state.projects
          .filter(({ name }) => !projects.some((wanted) => wanted.name === name))
          .flatMap((project) => [
            ...toDeletes('agent', project.agents, ({ name }) => name),
            ...toDeletes('project', [project], ({ name }) => name),
          ])),
    ...(sharedCredentials === undefined
      ? []
      : toDeletes(
          'sharedCredential',
          state.sharedCredentials.filter(({ name }) => !sharedCredentials.some((wanted) => wanted.name === name)),
          ({ name }) => name,
        )),
    ...(customProviders === undefined
      ? []
      : toDeletes(
          'customProvider',
          state.customProviders.filter(({ slug }) => !customProviders.some((wanted) => wanted.slug === slug)),
          ({ slug }) => slug,
        )),
    ...(webhooks === undefined
      ? []
      : toDeletes(
          'webhook',
          state.webhooks.filter(({ url }) => !webhooks.some((wanted) => wanted.url === url)),
          ({ url }) => url,
        )),
  ];
}

function planUpdate(type: RowType, name: string, id: string, stated: Fields, shown: Fields): readonly Change[] {
  const fields: Record<string, readonly [unknown, unknown]> = {};
  const own = comparableFields(shown);
  for (const [field, value] of Object.entries(comparableFields(mergeBudgetFields(stated, shown)))) {
    if (!isSameValue(value ?? DEFAULT_LIMITS[field] ?? null, own[field])) fields[field] = [own[field], value];
  }
  return Object.keys(fields).length === 0 ? [] : [{ action: 'update', type, name, id, fields }];
}

/** Compares lists of texts and numbers as sets, because the API may reorder them. */
function isSameValue(a: unknown, b: unknown): boolean {
  const flat = (value: unknown): unknown =>
    Array.isArray(value) ? [...value].sort((left, right) => (String(left) < String(right) ? -1 : 1)) : value;
  return isDeepStrictEqual(flat(a), flat(b));
}

const pickFields = (from: object, fields: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(from).filter(([field]) => fields.includes(field)));

function findUnique<Row>(rows: readonly Row[], matches: (row: Row) => boolean, description: string): Row | null {
  const found = rows.filter(matches);
  if (found.length > 1)
    throw new CliError(
      EXIT_CODES.conflict,
      `there are ${found.length} of ${description}: rename them so that names are unique`,
    );
  return found[0] ?? null;
}
