/** All lists of mutants. Add new lists here. */
import type { Area } from './mutant.js';
import { AUTH } from './mutants/auth.js';
import { CIRCUIT } from './mutants/breaker.js';
import { COUNTERS } from './mutants/counters.js';
import { EGRESS } from './mutants/egress.js';
import { EVENTS } from './mutants/events.js';
import { EXPIRIES } from './mutants/expirations.js';
import { WATCH } from './mutants/invalidation-watch.js';
import { LEDGER } from './mutants/ledger.js';
import { MASKING } from './mutants/masking.js';
import { METERING } from './mutants/metering.js';
import { ORGANIZATION_FILTER_EQUIVALENTS } from './mutants/organization-filter-equivalents.js';
import { LINK } from './mutants/plane-link.js';
import { REPORTS } from './mutants/reports.js';
import { SECRETS } from './mutants/secrets.js';
import { SPOOL_AREA } from './mutants/spool.js';
import { STAGES } from './mutants/stages.js';
import { UPSTREAM } from './mutants/upstream.js';
import { WEBHOOKS } from './mutants/webhooks.js';
import { WEBSOCKET } from './mutants/websocket.js';
import { createOrganizationFilterArea } from './organization-filters.js';

/** `controlPlaneSources`: paths in the repository. */
export function listMutantAreas(root: string, controlPlaneSources: readonly string[]): readonly Area[] {
  const sources = controlPlaneSources.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return [
    LINK,
    EGRESS,
    UPSTREAM,
    METERING,
    COUNTERS,
    STAGES,
    SPOOL_AREA,
    AUTH,
    LEDGER,
    REPORTS,
    EVENTS,
    CIRCUIT,
    WEBHOOKS,
    WEBSOCKET,
    WATCH,
    SECRETS,
    MASKING,
    EXPIRIES,
    createOrganizationFilterArea(root, sources, ORGANIZATION_FILTER_EQUIVALENTS),
  ];
}
