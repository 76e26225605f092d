import { type Static, Type } from 'typebox';
import { OrganizationWithRole } from '../auth/schema.js';
import { Body, PublicName } from '../http/schema.js';
import { scopeBudgetField } from '../limits/limit-fields.js';

const BudgetCents = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  ...scopeBudgetField('org'),
});

export const OrganizationInput = Body({ name: PublicName });
export const OrganizationPatch = Type.Object(
  { name: Type.Optional(PublicName), budgetCentsMonthly: Type.Optional(BudgetCents) },
  { additionalProperties: false, minProperties: 1 },
);
export type OrganizationPatch = Static<typeof OrganizationPatch>;
export const OrganizationReply = Type.Object({ org: OrganizationWithRole });
export const OrganizationSettings = Type.Object({
  org: Type.Object({ ...OrganizationWithRole.properties, budgetCentsMonthly: BudgetCents }),
});
export type OrganizationSettings = Static<typeof OrganizationSettings>;
