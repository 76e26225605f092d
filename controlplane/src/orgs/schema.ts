import { type Static, Type } from 'typebox';
import { OrganizationWithRole } from '../auth/users/auth-schema.js';
import { AgentDefaultsField } from '../budgets/agent-defaults.js';
import { BudgetRows, BudgetRowsInput } from '../budgets/schema.js';
import { EXAMPLE_TIMES } from '../http/examples.js';
import { PageReply } from '../http/limit-offset-pagination.js';
import { Body, PublicName, Timestamp, Uuid } from '../http/schema.js';
import { scopeBudgetFieldSchema } from '../limits/agent-limit-fields.js';

const BudgetCents = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  ...scopeBudgetFieldSchema('org'),
});

const RequireSecondFactor = Type.Boolean({
  description: 'Members without a second factor get 403 until they set one up. Only owners change it.',
});

export const OrganizationInput = Body({ name: PublicName });
export const OrganizationPatch = Type.Object(
  {
    name: Type.Optional(PublicName),
    budgetCentsMonthly: Type.Optional(BudgetCents),
    budgets: Type.Optional(BudgetRowsInput),
    agentDefaults: Type.Optional(AgentDefaultsField),
    requireSecondFactor: Type.Optional(RequireSecondFactor),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type OrganizationPatch = Static<typeof OrganizationPatch>;
export const OrganizationReply = Type.Object({ org: OrganizationWithRole });
export const OrganizationSettings = Type.Object({
  org: Type.Object({
    ...OrganizationWithRole.properties,
    budgetCentsMonthly: BudgetCents,
    budgets: BudgetRows,
    agentDefaults: AgentDefaultsField,
    requireSecondFactor: RequireSecondFactor,
  }),
});
export type OrganizationSettings = Static<typeof OrganizationSettings>;

export const DeletionInput = Body({
  password: Type.String({ maxLength: 256, description: 'The password of the user, required again.' }),
});
export const Restored = Type.Object({ restored: Type.Literal(true) });

const nullable = <T extends typeof Timestamp>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { description });
export const OrganizationDeletion = Type.Object({
  id: Uuid,
  orgId: Uuid,
  name: Type.String(),
  slug: Type.String(),
  status: Type.Enum(['pending', 'restored', 'deleted']),
  requestedBy: Type.Object({ userId: Uuid, email: Type.String() }),
  ip: Type.String(),
  requestedAt: Timestamp,
  purgeAt: Timestamp,
  restoredAt: nullable(Timestamp, 'Null unless the organization was restored.'),
  restoredByEmail: Type.Union([Type.String(), Type.Null()]),
  deletedAt: nullable(Timestamp, 'Null until everything in it is deleted.'),
});
export type OrganizationDeletion = Static<typeof OrganizationDeletion>;
export const OrganizationDeletionList = Type.Object({ deletions: Type.Array(OrganizationDeletion), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'OrganizationInput.name': 'Acme',
  'OrganizationPatch.name': 'Acme',
  'org.role': 'owner',
  restoredByEmail: null,
  deletedAt: null,
  requestedAt: EXAMPLE_TIMES.used,
  restoredAt: null,
  'org.budgetCentsMonthly': 100_000,
  'OrganizationPatch.budgetCentsMonthly': 100_000,
  requireSecondFactor: false,
};
