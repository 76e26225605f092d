/**
 * Owners and admins close a breaker of their organization or hold it open, for example during maintenance of a
 * provider.
 */
import { MINUTE_MS } from '@acg/base/time-and-money-units';
import { type Static, Type } from 'typebox';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import type { BreakerTransitionWriter } from '../breaker/breaker-transition-writer.js';
import { overrideOrgBreaker } from '../breaker/org-breaker-override.js';
import { formatCircuitKey } from '../breaker/provider-origin-org-circuit-key.js';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import type { Actor } from '../http/route-access.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { type CircuitView, listCircuits } from './org-circuit-list.js';

const HOLD_MINUTES = 60;
const HOLD_MINUTES_MAX = 1_440;
/** Above the number of origins that an organization has at one provider. */
const CIRCUITS_MAX = 10_000;

export const CircuitOverride = Type.Object(
  {
    providerSlug: Type.String({ minLength: 1, maxLength: 64 }),
    origin: Type.Optional(
      Type.String({ maxLength: 256, description: 'Required when the organization has accounts at several origins.' }),
    ),
    state: Type.Unsafe<'CLOSED' | 'OPEN'>({
      type: 'string',
      enum: ['CLOSED', 'OPEN'],
      description: 'CLOSED: calls pass again immediately. OPEN: calls are rejected until the override expires.',
    }),
    holdMinutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: HOLD_MINUTES_MAX,
        description: `Duration of an OPEN override in minutes; default ${HOLD_MINUTES}.`,
      }),
    ),
  },
  { additionalProperties: false },
);

export class CircuitOverrideService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
    readonly transitions: BreakerTransitionWriter,
  ) {}

  async apply(actor: Actor, order: Static<typeof CircuitOverride>): Promise<CircuitView> {
    const { orgId } = actor;
    const { providerSlug, origin } = await this.#find(orgId, order);
    const breaker = { circuitKey: formatCircuitKey({ providerSlug, origin, orgId }), providerSlug, orgId };
    const minutes = order.state === 'OPEN' ? (order.holdMinutes ?? HOLD_MINUTES) : null;
    await this.sql.begin(async (tx) => {
      await overrideOrgBreaker(tx, this.transitions, breaker, minutes === null ? null : minutes * MINUTE_MS);
      const hold: AuditChanges = minutes === null ? {} : { holdMinutes: [null, minutes] };
      const action = minutes === null ? 'circuit.close' : 'circuit.hold';
      await recordAudit(tx, actor, action, { type: 'circuit', id: providerSlug }, { origin: [null, origin], ...hold });
    });
    return this.#find(orgId, { providerSlug, origin });
  }

  async #find(
    orgId: string,
    { providerSlug, origin }: { providerSlug: string; origin?: string },
  ): Promise<CircuitView> {
    const page = { limit: CIRCUITS_MAX, offset: 0 };
    const { rows } = await listCircuits(this.sql, this.catalogue, orgId, { states: null, providerSlug }, page);
    const [found, ...others] = origin === undefined ? rows : rows.filter((row) => row.origin === origin);
    if (found === undefined) throw new NotFound('circuit');
    if (others.length > 0) throw new Conflict(`${providerSlug} has accounts at several origins: name one with origin`);
    return found;
  }
}
