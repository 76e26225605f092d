/**
 * Queries the addresses of one fully qualified name with c-ares, on sockets of the event loop. `dns.lookup` would wait
 * in libuv's thread pool, where two names with a silent server block all other lookups. A and AAAA are separate
 * queries, so a server that answers only one of them costs 250 ms and does not fail the name.
 */
import type { Resolver } from 'node:dns';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';

interface AddressAnswer {
  readonly addresses: readonly ResolvedAddress[];
  /**
   * How long the answer may be cached, from its records' TTL; 0 when there is no answer or only one family answered.
   */
  readonly ttlSec: number;
  /** No server answered, not even that the name does not exist. */
  readonly isUnanswered: boolean;
}

interface FamilyAnswer {
  readonly records: readonly { readonly address: string; readonly ttl: number }[];
  readonly isUnanswered: boolean;
}

/** How long one family's addresses wait for the other family's. */
const GRACE_MS = 250;
/** c-ares codes for an answer of a server. Every other code means that no server answered. */
const NEGATIVE_ANSWER_CODES: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'ENOTIMP',
]);

/** Never rejects. */
export function queryAddresses(resolver: Resolver, name: string): Promise<AddressAnswer> {
  return new Promise((resolve) => {
    let v4: FamilyAnswer | null = null;
    let v6: FamilyAnswer | null = null;
    let grace: NodeJS.Timeout | null = null;
    const resolveIfComplete = (): void => {
      if (v4 !== null && v6 !== null) {
        if (grace !== null) clearTimeout(grace);
        resolve(mergeFamilyAnswers(v4, v6));
      } else if (grace === null && (v4 ?? v6)!.records.length > 0) {
        grace = setTimeout(() => resolve(mergeFamilyAnswers(v4 ?? NO_FAMILY_ANSWER, v6 ?? NO_FAMILY_ANSWER)), GRACE_MS);
      }
    };
    resolver.resolve4(name, { ttl: true }, (error, records) => {
      v4 = toFamilyAnswer(error, records);
      resolveIfComplete();
    });
    resolver.resolve6(name, { ttl: true }, (error, records) => {
      v6 = toFamilyAnswer(error, records);
      resolveIfComplete();
    });
  });
}

const NO_FAMILY_ANSWER: FamilyAnswer = { records: [], isUnanswered: true };

const toFamilyAnswer = (error: NodeJS.ErrnoException | null, records: FamilyAnswer['records']): FamilyAnswer =>
  error === null
    ? { records, isUnanswered: false }
    : { records: [], isUnanswered: !NEGATIVE_ANSWER_CODES.has(error.code ?? '') };

function mergeFamilyAnswers(v4: FamilyAnswer, v6: FamilyAnswer): AddressAnswer {
  const withFamily = (family: number) => (record: { readonly address: string }) => ({
    address: record.address,
    family,
  });
  const addresses = [...v4.records.map(withFamily(4)), ...v6.records.map(withFamily(6))];
  const unanswered = v4.isUnanswered || v6.isUnanswered;
  const ttls = [...v4.records, ...v6.records].map((record) => record.ttl);
  return { addresses, ttlSec: unanswered || ttls.length === 0 ? 0 : Math.min(...ttls), isUnanswered: unanswered };
}
