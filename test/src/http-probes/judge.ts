/** What holds whatever was sent to the gateway, judged by what reached the upstream. */
import { type AttackCase, CONTAINED, GOOD, PARSER_LIMITS, REFUSED, SERVED } from './attack-cases.js';
import type { ProbeBench, Seen } from './probe-bench.js';

/** Never passed on to an upstream. */
const KEPT_BACK = ['cookie', 'forwarded', 'x-forwarded-for', 'te', 'upgrade', 'expect', 'http2-settings', 'x-hop'];

/** Empty when at most `forwarded` clean requests reached the upstream; else what is wrong, in words. */
export function problemsOf(bench: ProbeBench, forwarded: number): string[] {
  const { requests, problems } = bench.upstream;
  const found = [...problems];
  if (requests.length > forwarded) found.push(`${requests.length} requests reached the upstream`);
  for (const { target, headers } of requests) {
    if (target.includes('smuggled') || !target.startsWith('/base/')) found.push(`target ${target}`);
    const credentials = headers.filter(([name]) => name === 'authorization').map(([, value]) => value);
    if (credentials.join() !== `Bearer ${bench.providerKey}`) found.push(`authorization ${credentials.join()}`);
    const passed = headers.map(([name]) => name).filter((name) => KEPT_BACK.includes(name));
    if (passed.length > 0) found.push(`passed on: ${passed.join()}`);
    if (JSON.stringify(headers).includes(bench.token)) found.push('the gateway token went up');
  }
  if (bench.gateway.bugs > 0) found.push('an exception in a handler');
  return found;
}

const statusIs = (seen: Seen, status: AttackCase['status']): boolean =>
  status === undefined || status.includes(seen.statuses[0] ?? 'none');

/** Runs every case, alone and with a good request behind it in the same segment; answers the names of those that fail. */
export async function runProbes(bench: ProbeBench): Promise<{ total: number; failed: string[] }> {
  const cases = [...REFUSED, ...CONTAINED, ...SERVED, ...PARSER_LIMITS];
  const failed: string[] = [];
  for (const one of cases) {
    bench.upstream.reset();
    const seen = await bench.probe(one.pieces);
    const problems = problemsOf(bench, one.forwarded);
    if (!statusIs(seen, one.status)) problems.push(`status ${seen.statuses[0] ?? 'none'}`);
    if (SERVED.includes(one)) {
      if (bench.upstream.requests.length !== 1) problems.push('not served');
    } else if (!PARSER_LIMITS.includes(one)) {
      bench.upstream.reset();
      const whole = one.pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece));
      await bench.probe([Buffer.concat([...whole, Buffer.from(GOOD, 'latin1')])]);
      problems.push(...problemsOf(bench, one.forwarded).map((problem) => `in its shadow: ${problem}`));
    }
    if (problems.length > 0) failed.push(`${one.name}: ${problems.join('; ')}`);
  }
  return { total: cases.length, failed };
}
