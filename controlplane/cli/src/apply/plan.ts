/** What must change so that an organization is as a document says. Pure: nothing is asked and nothing is done here. */
import { isDeepStrictEqual } from 'node:util';
import { AGENT_LIMITS } from '@acg/base/limits';
import { EXIT, Failure } from '../terminal/failure.js';
import type { AccountSpec, AgentSpec, Document, Fields, ProjectSpec } from './document.js';
import { AGENT_FIELDS, CUSTOM_PROVIDER_FIELDS } from './document.js';
import type { AgentState, State } from './state.js';

/** Field → [before, after]. */
type Differences = Readonly<Record<string, readonly [unknown, unknown]>>;

interface Named {
  /** What a person calls it, e.g. `Support bot / openai`. */
  readonly name: string;
}
export type Change = Named &
  (
    | { readonly action: 'create'; readonly type: 'project' | 'customProvider' | 'webhook'; readonly fields: Fields }
    | { readonly action: 'create'; readonly type: 'agent'; readonly project: string; readonly fields: Fields }
    | { readonly action: 'create'; readonly type: 'account'; readonly agent: AgentPath; readonly account: AccountSpec }
    | { readonly action: 'update'; readonly type: RowType; readonly id: string; readonly fields: Differences }
    | { readonly action: 'status'; readonly type: 'agent'; readonly agent: AgentPath; readonly fields: Differences }
    | { readonly action: 'delete'; readonly type: RowType; readonly id: string }
  );
export type RowType = 'project' | 'agent' | 'account' | 'customProvider' | 'webhook';
/** By names: either may only be about to be made. */
export interface AgentPath {
  readonly project: string;
  readonly agent: string;
}

/** Where null stands for what the API shows as its default. */
const DEFAULTS: Fields = Object.fromEntries(AGENT_LIMITS.map((row) => [row.field, row.default]));

export function planChanges(document: Document, state: State, prune: boolean): readonly Change[] {
  const made: Change[] = [];
  const deleted: Change[] = [];
  for (const { slug, ...wanted } of document.customProviders ?? []) {
    const own = onlyOne(state.customProviders, (row) => row.slug === slug, `custom provider ${slug}`);
    const fields = pick(wanted, CUSTOM_PROVIDER_FIELDS);
    if (own === null) made.push({ action: 'create', type: 'customProvider', name: slug, fields: { slug, ...fields } });
    else made.push(...update('customProvider', slug, own.id, fields, own.fields));
  }
  for (const project of document.projects ?? []) planProject(project, state, prune, made, deleted);
  for (const { url, ...wanted } of document.webhooks ?? []) {
    const own = onlyOne(state.webhooks, (row) => row.url === url, `webhook ${url}`);
    if (own === null) made.push({ action: 'create', type: 'webhook', name: url, fields: { url, ...wanted } });
    else made.push(...update('webhook', url, own.id, wanted, { events: own.events, status: own.status }));
  }
  if (prune) deleted.push(...strangers(document, state));
  return [...made, ...deleted];
}

function planProject(spec: ProjectSpec, state: State, prune: boolean, made: Change[], deleted: Change[]): void {
  const { name, budgetCentsMonthly, agents = [] } = spec;
  const own = onlyOne(state.projects, (row) => row.name === name, `project ${name}`);
  const fields = budgetCentsMonthly === undefined ? {} : { budgetCentsMonthly };
  if (own === null) made.push({ action: 'create', type: 'project', name, fields: { name, ...fields } });
  else made.push(...update('project', name, own.id, fields, { budgetCentsMonthly: own.budgetCentsMonthly }));
  for (const agent of agents) {
    const present = onlyOne(own?.agents ?? [], (row) => row.name === agent.name, `agent ${agent.name} in ${name}`);
    planAgent(name, agent, present, prune, made, deleted);
  }
  if (!prune || spec.agents === undefined) return;
  for (const { id, name: agent } of own?.agents ?? []) {
    if (!agents.some((wanted) => wanted.name === agent))
      deleted.push({ action: 'delete', type: 'agent', name: agent, id });
  }
}

function planAgent(
  project: string,
  spec: AgentSpec,
  own: AgentState | null,
  prune: boolean,
  made: Change[],
  deleted: Change[],
): void {
  const { name, status, accounts = [] } = spec;
  const path = { project, agent: name };
  const fields = pick(spec, AGENT_FIELDS);
  if (own === null) made.push({ action: 'create', type: 'agent', name, project, fields: { name, ...fields } });
  else made.push(...update('agent', name, own.id, fields, own.fields));
  const statusNow = own?.status ?? 'active';
  if (status !== undefined && status !== statusNow) {
    made.push({ action: 'status', type: 'agent', name, agent: path, fields: { status: [statusNow, status] } });
  }
  for (const account of accounts) {
    const label = `${name} / ${account.provider}`;
    const present = onlyOne(own?.accounts ?? [], (row) => row.provider === account.provider, `account ${label}`);
    if (present === null) made.push({ action: 'create', type: 'account', name: label, agent: path, account });
    else made.push(...update('account', label, present.id, pick(account, ['allowSensitivePaths']), { ...present }));
  }
  if (!prune || spec.accounts === undefined) return;
  for (const { id, provider } of own?.accounts ?? []) {
    if (!accounts.some((wanted) => wanted.provider === provider))
      deleted.push({ action: 'delete', type: 'account', name: `${name} / ${provider}`, id });
  }
}

/** What the parts of the organization that the document speaks of have beside it. */
function strangers(document: Document, state: State): Change[] {
  const { projects, customProviders, webhooks } = document;
  const gone = <Row extends { readonly id: string }>(
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
            ...gone('agent', project.agents, ({ name }) => name),
            ...gone('project', [project], ({ name }) => name),
          ])),
    ...(customProviders === undefined
      ? []
      : gone(
          'customProvider',
          state.customProviders.filter(({ slug }) => !customProviders.some((wanted) => wanted.slug === slug)),
          ({ slug }) => slug,
        )),
    ...(webhooks === undefined
      ? []
      : gone(
          'webhook',
          state.webhooks.filter(({ url }) => !webhooks.some((wanted) => wanted.url === url)),
          ({ url }) => url,
        )),
  ];
}

function update(type: RowType, name: string, id: string, wanted: Fields, own: Fields): readonly Change[] {
  const fields: Record<string, readonly [unknown, unknown]> = {};
  for (const [field, value] of Object.entries(wanted)) {
    if (!same(value ?? DEFAULTS[field] ?? null, own[field])) fields[field] = [own[field], value];
  }
  return Object.keys(fields).length === 0 ? [] : [{ action: 'update', type, name, id, fields }];
}

/** Lists of texts and numbers are sets: the API may keep them in another order. */
function same(a: unknown, b: unknown): boolean {
  const flat = (value: unknown): unknown =>
    Array.isArray(value) ? [...value].sort((left, right) => (String(left) < String(right) ? -1 : 1)) : value;
  return isDeepStrictEqual(flat(a), flat(b));
}

const pick = (from: object, fields: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(from).filter(([field]) => fields.includes(field)));

function onlyOne<Row>(rows: readonly Row[], is: (row: Row) => boolean, what: string): Row | null {
  const found = rows.filter(is);
  if (found.length > 1)
    throw new Failure(EXIT.conflict, `there are ${found.length} of ${what}: names must differ here`);
  return found[0] ?? null;
}
