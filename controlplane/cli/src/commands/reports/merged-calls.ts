/** `acg logs --all`: forwarded and rejected calls in one list, newest last; `-f` follows new ones. */
import type { MergedCall } from '@acg/client/schema';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { followRows, PAGE_ROWS_MAX } from '../../api/follow-rows.js';
import type { Invocation } from '../../invocation/invocation.js';
import { escapeControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatCallLine } from './format-call-line.js';
import { formatRejectedCallLine } from './rejected-calls.js';

interface MergedCallOptions {
  readonly limit?: number;
  readonly cursor?: string;
  readonly follow?: true;
}

export async function printMergedCalls(
  run: Invocation,
  client: Client,
  filters: object,
  { limit = PAGE_ROWS_MAX, cursor, follow }: MergedCallOptions,
): Promise<void> {
  const load = (page: object) => client.get('/v1/usage/calls', { params: { query: { ...filters, ...page } } });
  if (follow === true) {
    const fetchNewest = async () => (await load({ limit: PAGE_ROWS_MAX })).calls;
    await followRows(run, { fetchNewest, line: formatMergedCallLine, skipExisting: false });
  }
  const answer = await load({ limit, ...(cursor === undefined ? {} : { cursor }) });
  run.printResult(answer, () => {
    for (const call of answer.calls.toReversed()) run.printLine(escapeControlCharacters(formatMergedCallLine(call)));
    run.printNoneOnTerminal(answer.calls.length);
  });
  if (answer.nextCursor === null) return;
  const reason = answer.searchedFrom === null ? 'older ones' : `not searched before ${answer.searchedFrom}`;
  run.printNote(`${reason}: --cursor ${answer.nextCursor}`);
}

/** `rejected` follows the instant of calls that the gateway rejected. */
function formatMergedCallLine({ forwarded, rejected }: MergedCall): string {
  if (forwarded !== null) return formatCallLine(forwarded);
  return rejected === null ? '' : formatRejectedCallLine(rejected).replace('Z ', 'Z rejected ');
}
