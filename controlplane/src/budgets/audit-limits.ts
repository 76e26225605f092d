/** Rate limits of an agent that are counted and never reject (docs/contract.md#audit-mode). */
import { RATE_LIMITS } from '@acg/base/limit-definitions';
import { Type } from 'typebox';

const AUDIT_LIMITS = RATE_LIMITS.map(({ type }) => type);
export type AuditLimit = (typeof AUDIT_LIMITS)[number];

export const AuditLimitsField = Type.Array(Type.Unsafe<AuditLimit>({ type: 'string', enum: AUDIT_LIMITS }), {
  uniqueItems: true,
  maxItems: AUDIT_LIMITS.length,
  description:
    'Limits in audit mode: counted, and never reject. The answer names them in x-gateway-would-reject. For a budget, use mode: audit.',
});
