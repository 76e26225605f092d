import { type Static, Type } from 'typebox';
import { AgentDefaultsField } from '../budgets/agent-defaults.js';
import { BudgetRows, BudgetRowsInput } from '../budgets/schema.js';
import { EXAMPLE_IDS } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SearchQuery, SortQuery } from '../http/search-and-sort-query-schema.js';
import { scopeBudgetFieldSchema } from '../limits/agent-limit-fields.js';

const BudgetCents = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  ...scopeBudgetFieldSchema('project'),
});
/** Credentials of one project and of the organization, at most. */
const PERSONAL_CREDENTIALS_MAX = 20;
const PersonalAgentsField = Type.Unsafe<{ credentialIds: string[] } | null>({
  anyOf: [
    Body({ credentialIds: Type.Array(Uuid, { maxItems: PERSONAL_CREDENTIALS_MAX, uniqueItems: true }) }),
    { type: 'null' },
  ],
  description:
    'Allows a personal agent for each member, with accounts that use these shared credentials, one per provider. Null: not allowed; personal agents of the project end.',
});
export const Project = Type.Object({
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  budgetCentsMonthly: BudgetCents,
  createdAt: Timestamp,
});
export type Project = Static<typeof Project>;
/** Lists show the plain monthly budget only. */
export const ProjectWithBudgets = Type.Object({
  ...Project.properties,
  budgets: BudgetRows,
  agentDefaults: AgentDefaultsField,
  personalAgents: PersonalAgentsField,
});
export type ProjectWithBudgets = Static<typeof ProjectWithBudgets>;

export const ProjectInput = Body({ name: Name });
export const ProjectPatch = Type.Object(
  {
    name: Type.Optional(Name),
    budgetCentsMonthly: Type.Optional(BudgetCents),
    budgets: Type.Optional(BudgetRowsInput),
    agentDefaults: Type.Optional(AgentDefaultsField),
    personalAgents: Type.Optional(PersonalAgentsField),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type ProjectPatch = Static<typeof ProjectPatch>;
export const ProjectQuery = Type.Object({
  ...PageQuery,
  ...SearchQuery('the name or the slug'),
  ...SortQuery(['createdAt', 'name']),
});
export type ProjectQuery = Static<typeof ProjectQuery>;
export const ProjectReply = Type.Object({ project: ProjectWithBudgets });
export const ProjectList = Type.Object({ projects: Type.Array(Project), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'Project.id': EXAMPLE_IDS.project,
  'Project.name': 'Default',
  'ProjectInput.name': 'Research',
  'ProjectPatch.name': 'Research',
  'Project.slug': 'default',
  'Project.budgetCentsMonthly': 20_000,
  'ProjectWithBudgets.id': EXAMPLE_IDS.project,
  'ProjectWithBudgets.name': 'Default',
  'ProjectWithBudgets.slug': 'default',
  'ProjectWithBudgets.budgetCentsMonthly': 20_000,
  'ProjectPatch.budgetCentsMonthly': 20_000,
  'personalAgents.credentialIds': [EXAMPLE_IDS.credential],
};
