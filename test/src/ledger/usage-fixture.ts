/** Usage records for tests: a plausible one, changed where a test cares. */
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { UsagePartitions } from '@acg/controlplane/ledger/create-usage-day-partitions';
import { UsageIngest, type UsageObserver } from '@acg/controlplane/ledger/usage-ingest';
import {
  type IReportUsageRequest,
  type IReportUsageResponse,
  type IUsageRecord,
  ReportUsageRequest,
} from '@acg/proto/messages';

export const newId = (): string => uuidv7(Date.now());
const org = newId();

export function usageRecord(changes: Partial<IUsageRecord> = {}): IUsageRecord {
  return {
    id: newId(),
    keyId: org,
    agentId: org,
    orgId: org,
    providerSlug: 'openai',
    accountId: org,
    startedAtMs: Date.now(),
    method: 'POST',
    path: '/v1/chat/completions',
    status: 200,
    responseStatus: 200,
    error: '',
    model: 'gpt-4o-mini',
    tokensInUncached: 100,
    tokensCacheRead: 20,
    tokensCacheWrite: 3,
    tokensOut: 50,
    tokensReasoning: 10,
    costNanos: 1_234_567,
    usageSource: 'reported',
    priceSource: 'library',
    durationMs: 250,
    ttfbMs: 120,
    bytesIn: 512,
    bytesOut: 2_048,
    streamed: false,
    circuitKey: 'openai',
    circuitEpoch: 1,
    circuitOutcome: 1,
    ...changes,
  };
}

/** An ingest as one control plane has it; several on one database are several control planes. */
export function createIngest(sql: Sql, observers: readonly UsageObserver[] = [], retentionDays = 90): TestIngest {
  const log = createLogger('test', 'silent');
  const partitions = new UsagePartitions(sql, retentionDays);
  const ingest = new UsageIngest(
    sql,
    partitions,
    observers,
    { recordBatch: () => undefined, recordLostCommit: () => undefined },
    log,
  );
  return { report: (request) => ingest.ingestReport(encodeReport(request)) };
}

interface TestIngest {
  report(request: IReportUsageRequest): Promise<IReportUsageResponse>;
}

/** A report in its wire format. */
export const encodeReport = (request: IReportUsageRequest): Buffer =>
  Buffer.from(ReportUsageRequest.encode(request).finish());

export interface InsertedAgent {
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
}

/** Creates an agent with a new project in the database. */
export async function insertAgent(
  sql: Sql,
  orgId: string,
  { budgetCents = null, createdAt = new Date() }: { budgetCents?: number | null; createdAt?: Date } = {},
): Promise<InsertedAgent> {
  const [id, projectId] = [newId(), newId()];
  const name = `Agent ${id.slice(-4)}`;
  await sql`insert into projects (id, org_id, name, slug) values (${projectId}, ${orgId}, 'P', ${projectId})`;
  await sql`insert into agents (id, org_id, project_id, name, slug, budget_cents_monthly, created_at)
    values (${id}, ${orgId}, ${projectId}, ${name}, ${id}, ${budgetCents}, ${createdAt})`;
  return { id, name, orgId };
}
