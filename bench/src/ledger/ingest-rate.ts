/** Ingest rate: several data planes report full batches over gRPC as fast as they are acknowledged. */
import { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { ReportUsageRequest } from '@acg/proto/messages';
import { treeCpuUs } from '../process-usage.js';

const DATA_PLANES = 4;
const CUSTOMERS = 500;
const FEATURES = 8;
const CALL_TIMEOUT_MS = 60_000;

interface IngestFigures {
  readonly records: number;
  readonly recordsPerSecond: number;
  readonly controlPlaneCpuUsPerRecord: number;
  readonly postgresCpuUsPerRecord: number;
}

export interface IngestTarget {
  readonly grpcPort: number;
  readonly internalToken: string;
  readonly controlPid: number;
  readonly postgresPid: number;
  readonly orgId: string;
  readonly agentIds: readonly string[];
}

export async function measureIngest(
  target: IngestTarget,
  records: number,
  batch: number,
  withTags = false,
): Promise<IngestFigures> {
  const link = { tls: null, internalTokens: [new Secret(target.internalToken)] };
  const clients = Array.from(
    { length: DATA_PLANES },
    () => new ControlPlaneClient([`127.0.0.1:${target.grpcPort}`], link),
  );
  const bodies = Array.from({ length: Math.ceil(records / batch) }, () => encodeBatch(target, batch, withTags)); // encoded before the measurement starts
  const sent = bodies.length * batch;
  const cpu = { control: treeCpuUs(target.controlPid), postgres: treeCpuUs(target.postgresPid) };
  const startMs = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
        const { rejected } = await client.reportUsageBody(body, CALL_TIMEOUT_MS);
        if (rejected!.length > 0) throw new Error(`rejected: ${rejected![0]!.reason}`);
      }
    }),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  for (const client of clients) client.close();
  return {
    records: sent,
    recordsPerSecond: Math.round(sent / seconds),
    controlPlaneCpuUsPerRecord: Math.round((10 * (treeCpuUs(target.controlPid) - cpu.control)) / sent) / 10,
    postgresCpuUsPerRecord: Math.round((10 * (treeCpuUs(target.postgresPid) - cpu.postgres)) / sent) / 10,
  };
}

function encodeBatch({ orgId, agentIds }: IngestTarget, size: number, withTags: boolean): Buffer {
  const nowMs = Date.now();
  const records = Array.from({ length: size }, (_, i) => {
    const agentId = agentIds[Math.floor(Math.random() * agentIds.length)]!;
    return {
      id: uuidv7(nowMs),
      keyId: agentId,
      agentId,
      orgId,
      projectId: orgId,
      providerSlug: i % 3 === 0 ? 'anthropic' : 'openai',
      accountId: agentId,
      startedAtMs: nowMs - (i % 5_000),
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      responseStatus: 200,
      model: 'gpt-4o-mini-2024-07-18',
      tokensInUncached: 500 + i,
      tokensOut: 200,
      costNanos: 195_000,
      usageSource: 'reported',
      priceSource: 'library',
      durationMs: 100 + Math.floor(Math.random() * 5_000),
      ttfbMs: 90,
      bytesIn: 2_000,
      bytesOut: 6_000,
      circuitKey: 'openai|https://api.openai.com',
      circuitEpoch: 1,
      circuitOutcome: 1,
      ...(withTags ? { tags: `customer=c${Math.floor(Math.random() * CUSTOMERS)},feature=f${i % FEATURES}` } : {}),
    };
  });
  return Buffer.from(ReportUsageRequest.encode({ dataPlaneId: 'bench', records }).finish());
}
