/** `acg logs --refused`: lists calls that the gateway rejected, newest last; `-f` follows new ones. */
import type { RejectedCall } from '@acg/client/schema';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { followRows, PAGE_ROWS_MAX } from '../../api/follow-rows.js';
import type { Invocation } from '../../invocation/invocation.js';
import { type PageOptions, printRemainingRows, toPageQuery } from '../../options/page-options-and-value-parsers.js';
import { escapeControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatSecond } from '../../terminal/format-numbers-and-times.js';

interface RejectedCallScope {
  readonly agentId?: string;
  readonly projectId?: string;
  readonly startTime?: string;
  readonly endTime?: string;
}

export async function printRejectedCalls(
  run: Invocation,
  client: Client,
  scope: RejectedCallScope,
  options: PageOptions & { readonly follow?: true },
): Promise<void> {
  const load = (page: object) => client.get('/v1/usage/rejected-calls', { params: { query: { ...scope, ...page } } });
  if (options.follow === true) {
    const fetchNewest = async () => (await load({ limit: PAGE_ROWS_MAX })).calls;
    await followRows(run, { fetchNewest, line: formatRejectedCallLine, skipExisting: false });
  }
  const answer = await load(toPageQuery(options));
  run.printResult(answer, () => {
    for (const call of answer.calls.toReversed()) run.printLine(escapeControlCharacters(formatRejectedCallLine(call)));
    run.printNoneOnTerminal(answer.calls.length);
  });
  printRemainingRows(run, answer.calls.length, answer);
}

/** `2026-11-22 16:51:54Z support-bot openai GET /v1/organization/keys 403 sensitive_path key ci from 192.0.2.1 ID` */
export function formatRejectedCallLine(call: RejectedCall): string {
  return [
    formatSecond(call.rejectedAt),
    call.agentName ?? '–',
    call.providerSlug,
    call.method,
    call.path,
    String(call.status),
    call.reason,
    call.tool ?? call.model,
    `key ${call.keyName ?? call.keyPrefix ?? call.keyId}`,
    `from ${call.clientNetwork}`,
    call.id,
  ]
    .filter((part) => part !== null)
    .join(' ');
}
