/**
 * A hard budget under load: three data planes on one Redis, 200 concurrent callers, 1 000 calls aborted by their
 * clients, and one data plane killed with calls in flight. Half of the calls are streams without a maximum and send up
 * to four times what their reservations cover. Reports the spend, how long reservations of the dead data plane outlive
 * it, and whether a call was rejected that would have fitted. Needs a `redis-server` in the path.
 *
 *   node bench/dist/hard-budget-overspend.js
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spendKey } from '@acg/dataplane/counters/redis/spend-counter';
import { spendName } from '@acg/dataplane/limits/budget-row';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import { RedisServer } from '@acg/test/fixtures/redis-server';
import { Stack } from '@acg/test/fixtures/stack';
import { readStoredReservations } from '@acg/test/limits/counters-fixture';
import { Agent, request as send } from 'undici';
import { startBenchDatabase } from './bench-database.js';

const BUDGET_CENTS = 1_500;
const CALLERS = 200;
const ABORTS = 1_000;
const CENT_NANOS = 10_000_000;
const TOKENS_OUT_MAX = 1_000;
const TOKEN_OUT_NANOS = 10_000; // gpt-4o
const TOKEN_IN_NANOS = 2_500;
/** Of a stream, which states no maximum. */
const STREAM_TOKENS_HELD = 250;
const callOf = (body: object, tokensOut: number) => {
  const text = JSON.stringify({ model: 'gpt-4o', messages: [], ...body });
  return { text, reservationNanos: Buffer.byteLength(text) * TOKEN_IN_NANOS + tokensOut * TOKEN_OUT_NANOS };
};
const WHOLE = callOf({ max_completion_tokens: TOKENS_OUT_MAX }, TOKENS_OUT_MAX);
const STREAM = callOf({ stream: true }, STREAM_TOKENS_HELD);

let served = 0;
const CHUNK = { id: 'x', object: 'chat.completion.chunk', model: 'gpt-4o' };
const piece = `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta: { content: 'word' } }] })}\n\n`;

/** Sends chunks in bursts, then the usage. */
function speak(response: ServerResponse, tokens: number): void {
  response.setHeader('content-type', 'text/event-stream');
  const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens };
  const more = (left: number): void => {
    if (response.destroyed) return;
    const now = Math.min(left, 1 + Math.floor(Math.random() * 100));
    response.write(piece.repeat(now));
    if (left > now) setTimeout(more, Math.random() * 10, left - now);
    else response.end(`data: ${JSON.stringify({ ...CHUNK, choices: [], usage })}\n\ndata: [DONE]\n\n`);
  };
  more(tokens);
}

const provider = createServer((request, response) => {
  let streamed = false;
  request.on('data', (bytes: Buffer) => {
    streamed ||= bytes.includes('"stream":true');
  });
  request.on('end', () => {
    setTimeout(
      () => {
        if (response.destroyed) return;
        served++;
        const tokens = Math.floor(Math.random() * (TOKENS_OUT_MAX + 1));
        if (streamed) {
          speak(response, tokens);
          return;
        }
        const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: 'gpt-4o', choices: [], usage }));
      },
      20 + Math.random() * 80,
    );
  });
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');

const database = await startBenchDatabase([]);
const redis = await RedisServer.start();
const stack = await Stack.start({
  database: { url: database.url, drop: () => database.stop() },
  providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
  redisUrl: redis.url.href,
  dataPlaneEnv: { COUNTERS_TIMEOUT_MS: '5000' },
});
const planes = [await stack.addDataPlane(), await stack.addDataPlane(), await stack.addDataPlane()];
const tenant = await stack.signUpTenant();
const { id } = await tenant.createAgent({
  budgetMode: 'hard',
  holdMaxOutputTokens: STREAM_TOKENS_HELD,
  budgetCentsMonthly: BUDGET_CENTS,
  rpmLimit: 1_000_000,
  rpdLimit: 1_000_000_000,
});
await tenant.createAccount(id, 'openai', { apiKey: 'sk-test-0123456789' });
const token = await tenant.createToken(id);

const connections = new Agent({ connections: 300 });
const counts = new Map<string, number>();
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
let aborts = 0;
let alive = planes;
let over = false;
let rejectedAlthoughFitting = 0;

async function oneCall(caller: number): Promise<void> {
  const { url } = alive[caller % alive.length]!;
  const one = Math.random() < 0.5 ? WHOLE : STREAM;
  const abort = aborts < ABORTS && Math.random() < 0.3 ? new AbortController() : null;
  if (abort !== null) {
    aborts++;
    setTimeout(() => abort.abort(), 5 + Math.random() * 60);
  }
  try {
    const { statusCode, body } = await send(`${url}/v1/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: one.text,
      dispatcher: connections,
      ...(abort === null ? {} : { signal: abort.signal }),
    });
    const text = await body.text();
    if (statusCode !== 429) {
      count(text.includes('"code":"budget_cut"') ? 'cut' : String(statusCode));
      return;
    }
    const answer = JSON.parse(text) as { reason?: string; spentCents?: number; heldCents?: number };
    count(`429 ${answer.reason}`);
    // The values are rounded to cents: half a cent each way.
    const taken = (answer.spentCents! + answer.heldCents! + 1) * CENT_NANOS + one.reservationNanos;
    if (taken <= BUDGET_CENTS * CENT_NANOS) rejectedAlthoughFitting++;
    if (answer.reason === 'spent') over = true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  } catch (error) {
    count((error as Error).name === 'AbortError' ? 'aborted' : 'connection lost');
  }
}

const storedSpendKey = (): string =>
  spendKey(tenant.orgId, spendName('agent', id), calendarWindowAt('month', Date.now() / 1000));
const spentNanos = async (): Promise<number> => Number(await redis.admin.hget(storedSpendKey(), 'sum'));

const startMs = performance.now();
let killedMs = 0;
let deadFreeS = -1;
let deadFields = 0;
/** Deadline of each data plane's reservations, Unix ms. */
async function reservationDeadlinesMs(): Promise<ReadonlyMap<string, number>> {
  const stored = await readStoredReservations(redis.admin, id, undefined, storedSpendKey());
  return new Map(stored.map(({ field, deadline }) => [field, deadline / 1000]));
}
/** Data planes with reservations that count now. */
const countLiveReservations = async (): Promise<number> =>
  [...(await reservationDeadlinesMs()).values()].filter((deadlineMs) => deadlineMs > Date.now()).length;
const kill = setTimeout(async () => {
  const victim = alive[0]!;
  alive = alive.slice(1);
  await victim.plane.kill();
  killedMs = performance.now();
  const killedAtMs = Date.now();
  // Reservations that are not renewed belong to the dead data plane.
  const before = await reservationDeadlinesMs();
  await new Promise((resolve) => setTimeout(resolve, 7_000));
  const after = await reservationDeadlinesMs();
  const dead = [...before].filter(([writer, deadlineMs]) => after.get(writer) === deadlineMs);
  deadFreeS = Math.max(0, ...dead.map(([, deadlineMs]) => (deadlineMs - killedAtMs) / 1000));
  deadFields = dead.length;
}, 3_000);
await Promise.all(
  Array.from({ length: CALLERS }, async (_, caller) => {
    while (!over || aborts < ABORTS) {
      await oneCall(caller);
      if (performance.now() - startMs > 300_000) throw new Error('not over after five minutes');
    }
  }),
);
clearTimeout(kill);
const loadS = (performance.now() - startMs) / 1000;
const endMs = performance.now();
while ((await countLiveReservations()) > 0 || deadFreeS < 0) await new Promise((resolve) => setTimeout(resolve, 50));
const allFreeS = (performance.now() - Math.max(endMs, killedMs)) / 1000;
const spent = await spentNanos();
console.log(
  `calls: ${[...counts].map(([what, many]) => `${what}: ${many}`).join(', ')}; ${served} answered by the provider`,
);
console.log(
  `load ${loadS.toFixed(1)} s; aborted ${aborts}; rejected although it would have fitted: ${rejectedAlthoughFitting}`,
);
console.log(
  `spent ${(spent / CENT_NANOS).toFixed(4)} of ${BUDGET_CENTS} cents; within: ${spent <= BUDGET_CENTS * CENT_NANOS}`,
);
console.log(
  `the dead data plane’s reservations (writers: ${deadFields}) were free ${deadFreeS.toFixed(1)} s after its kill; no reservation ${allFreeS.toFixed(1)} s after the load`,
);

await stack.stop();
await redis.stop();
provider.closeAllConnections();
provider.close();
await connections.destroy();
