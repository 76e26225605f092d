/** Invariants that hold for every input of the gateway, checked at the upstream. */
import {
  type AttackCase,
  CONTAINED_CASES,
  PARSER_DEPENDENT_CASES,
  REJECTED_CASES,
  SERVED_CASES,
  WELL_FORMED_REQUEST,
} from './hostile-request-cases.js';
import type { ProbeHarness, ProbeResponse } from './probe-harness.js';

/** Never forwarded to an upstream. */
const WITHHELD_HEADERS = [
  'cookie',
  'forwarded',
  'x-forwarded-for',
  'te',
  'upgrade',
  'expect',
  'http2-settings',
  'x-hop',
];

/**
 * Empty when at most `forwarded` well-formed requests reached the upstream; otherwise a description of each problem.
 */
export function checkUpstreamRequests(harness: ProbeHarness, forwarded: number): string[] {
  const { requests, problems } = harness.upstream;
  const found = [...problems];
  if (requests.length > forwarded) found.push(`${requests.length} requests reached the upstream`);
  for (const { target, headers } of requests) {
    if (target.includes('smuggled') || !target.startsWith('/base/')) found.push(`target ${target}`);
    const credentials = headers.filter(([name]) => name === 'authorization').map(([, value]) => value);
    if (credentials.join() !== `Bearer ${harness.providerKey}`) found.push(`authorization ${credentials.join()}`);
    const passed = headers.map(([name]) => name).filter((name) => WITHHELD_HEADERS.includes(name));
    if (passed.length > 0) found.push(`passed on: ${passed.join()}`);
    if (JSON.stringify(headers).includes(harness.token)) found.push('the gateway token went up');
  }
  if (harness.gateway.bugs > 0) found.push('an exception in a handler');
  return found;
}

const hasExpectedStatus = (seen: ProbeResponse, status: AttackCase['status']): boolean =>
  status === undefined || status.includes(seen.statuses[0] ?? 'none');

/** Runs every case, alone and with a well-formed request in the same segment; returns the names of the failed cases. */
export async function runProbes(harness: ProbeHarness): Promise<{ total: number; failed: string[] }> {
  const cases = [...REJECTED_CASES, ...CONTAINED_CASES, ...SERVED_CASES, ...PARSER_DEPENDENT_CASES];
  const failed: string[] = [];
  for (const one of cases) {
    harness.upstream.reset();
    const seen = await harness.sendProbe(one.chunks);
    const problems = checkUpstreamRequests(harness, one.forwarded);
    if (!hasExpectedStatus(seen, one.status)) problems.push(`status ${seen.statuses[0] ?? 'none'}`);
    if (SERVED_CASES.includes(one)) {
      if (harness.upstream.requests.length !== 1) problems.push('not served');
    } else if (!PARSER_DEPENDENT_CASES.includes(one)) {
      harness.upstream.reset();
      const whole = one.chunks.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece));
      await harness.sendProbe([Buffer.concat([...whole, Buffer.from(WELL_FORMED_REQUEST, 'latin1')])]);
      problems.push(...checkUpstreamRequests(harness, one.forwarded).map((problem) => `in its shadow: ${problem}`));
    }
    if (problems.length > 0) failed.push(`${one.name}: ${problems.join('; ')}`);
  }
  return { total: cases.length, failed };
}
