/**
 * The addresses of one full name, asked over c-ares: sockets of the event loop. (`dns.lookup` waits in libuv's thread
 * pool, where two names whose server never answers stop everybody's.) A and AAAA are asked apart, so a server that
 * answers only one of them costs a moment and not the name.
 */
import type { Resolver } from 'node:dns';
import type { ResolvedAddress } from '../egress/check-url.js';

interface Answer {
  readonly addresses: readonly ResolvedAddress[];
  /** How long the answer may be kept, by its records; 0 when there is none or it is not whole. */
  readonly ttlSec: number;
  /** No server said anything: not even that there is no such name. */
  readonly unanswered: boolean;
}

interface FamilyAnswer {
  readonly records: readonly { readonly address: string; readonly ttl: number }[];
  readonly unanswered: boolean;
}

/** How long one family's addresses wait for the other's. */
const GRACE_MS = 250;
/** c-ares names what a server says of a name; everything else means that none was heard. */
const SAID_NO: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EFORMERR', 'ENOTIMP']);

/** Never rejects. */
export function queryAddresses(resolver: Resolver, name: string): Promise<Answer> {
  return new Promise((resolve) => {
    let v4: FamilyAnswer | null = null;
    let v6: FamilyAnswer | null = null;
    let grace: NodeJS.Timeout | null = null;
    const answer = (): void => {
      if (v4 !== null && v6 !== null) {
        if (grace !== null) clearTimeout(grace);
        resolve(answerOf(v4, v6));
      } else if (grace === null && (v4 ?? v6)!.records.length > 0) {
        grace = setTimeout(() => resolve(answerOf(v4 ?? MISSING, v6 ?? MISSING)), GRACE_MS);
      }
    };
    resolver.resolve4(name, { ttl: true }, (error, records) => {
      v4 = familyAnswer(error, records);
      answer();
    });
    resolver.resolve6(name, { ttl: true }, (error, records) => {
      v6 = familyAnswer(error, records);
      answer();
    });
  });
}

const MISSING: FamilyAnswer = { records: [], unanswered: true };

const familyAnswer = (error: NodeJS.ErrnoException | null, records: FamilyAnswer['records']): FamilyAnswer =>
  error === null ? { records, unanswered: false } : { records: [], unanswered: !SAID_NO.has(error.code ?? '') };

function answerOf(v4: FamilyAnswer, v6: FamilyAnswer): Answer {
  const of = (family: number) => (record: { readonly address: string }) => ({ address: record.address, family });
  const addresses = [...v4.records.map(of(4)), ...v6.records.map(of(6))];
  const unanswered = v4.unanswered || v6.unanswered;
  const ttls = [...v4.records, ...v6.records].map((record) => record.ttl);
  return { addresses, ttlSec: unanswered || ttls.length === 0 ? 0 : Math.min(...ttls), unanswered };
}
