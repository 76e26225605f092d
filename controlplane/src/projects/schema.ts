import { type Static, Type } from 'typebox';
import { PageQuery, PageReply } from '../http/pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SearchQuery, SortQuery } from '../http/sorting.js';
import { scopeBudgetFieldSchema } from '../limits/agent-limit-fields.js';

const BudgetCents = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  ...scopeBudgetFieldSchema('project'),
});
export const Project = Type.Object({
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  budgetCentsMonthly: BudgetCents,
  createdAt: Timestamp,
});
export type Project = Static<typeof Project>;

export const ProjectInput = Body({ name: Name });
export const ProjectPatch = Type.Object(
  { name: Type.Optional(Name), budgetCentsMonthly: Type.Optional(BudgetCents) },
  { additionalProperties: false, minProperties: 1 },
);
export type ProjectPatch = Static<typeof ProjectPatch>;
export const ProjectQuery = Type.Object({
  ...PageQuery,
  ...SearchQuery('the name or the slug'),
  ...SortQuery(['createdAt', 'name']),
});
export type ProjectQuery = Static<typeof ProjectQuery>;
export const ProjectReply = Type.Object({ project: Project });
export const ProjectList = Type.Object({ projects: Type.Array(Project), ...PageReply });
