/** `acg prices`: lists prices and their sources. */
import { type Command, Option } from 'commander';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';

const PRICE_SOURCES = ['file', 'built-in', 'library', 'fallback'] as const;
interface PriceOptions extends PageOptions {
  readonly provider?: string;
  readonly search?: string;
  readonly source?: (typeof PRICE_SOURCES)[number];
}

type PriceField =
  | 'inputPerMTok'
  | 'outputPerMTok'
  | 'cachedInputPerMTok'
  | 'cacheWritePerMTok'
  | 'cacheWrite1hPerMTok'
  | 'perRequestUsd';

interface PriceOrigin {
  readonly source: string;
  readonly from: string | null;
  readonly file: { readonly line: number } | null;
}

/** `file:12 from 2026-12-01`. */
const formatPriceOrigin = ({ source, from, file }: PriceOrigin): string =>
  `${source.replace('_', '-')}${file === null ? '' : `:${file.line}`}${from === null ? '' : ` from ${from}`}`;

export function registerPriceCommand(command: Command, { begin }: CommandContext): void {
  addPageOptions(command)
    .argument('[model]', 'what calls of exactly this model cost, known or not')
    .option('--provider <slug>', 'only of this provider')
    .option('--search <text>', 'a part of the model')
    .addOption(new Option('--source <source>', 'only those').choices(PRICE_SOURCES))
    .action(async (model: string | undefined, options: PriceOptions) => {
      const run = begin();
      const { provider, search } = options;
      const source = options.source === 'built-in' ? ('built_in' as const) : options.source;
      const query = { ...omitUndefined({ model, provider, search, source }), ...toPageQuery(options) };
      const answer = await (await run.getClient()).get('/v1/prices', { params: { query } });
      const price = (name: PriceField) => (row: { readonly prices: { readonly [Field in PriceField]?: number } }) =>
        String(row.prices[name] ?? '');
      run.printResult(answer, () => {
        run.printTable(
          [
            { title: 'PROVIDER', cell: (row) => row.provider },
            { title: 'MODEL', cell: (row) => row.model ?? '(each request)' },
            { title: 'IN $/M', cell: price('inputPerMTok') },
            { title: 'OUT $/M', cell: price('outputPerMTok') },
            { title: 'CACHED $/M', cell: price('cachedInputPerMTok') },
            { title: 'WRITE $/M', cell: price('cacheWritePerMTok') },
            { title: 'WRITE 1H $/M', cell: price('cacheWrite1hPerMTok') },
            { title: 'REQUEST $', cell: price('perRequestUsd') },
            { title: 'FROM', cell: formatPriceOrigin },
          ],
          answer.prices,
        );
      });
      printRemainingRows(run, answer.prices.length, answer);
    });
}
