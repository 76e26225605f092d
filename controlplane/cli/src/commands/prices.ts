/** `acg prices`: what calls cost, and where each price comes from. */
import { type Command, Option } from 'commander';
import { given } from '../api/given.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

const SOURCES = ['file', 'built-in', 'library', 'fallback'] as const;
interface PriceOptions extends PageOptions {
  readonly provider?: string;
  readonly search?: string;
  readonly source?: (typeof SOURCES)[number];
}

type PriceField =
  | 'inputPerMTok'
  | 'outputPerMTok'
  | 'cachedInputPerMTok'
  | 'cacheWritePerMTok'
  | 'cacheWrite1hPerMTok'
  | 'perRequestUsd';

interface Origin {
  readonly source: string;
  readonly from: string | null;
  readonly file: { readonly line: number } | null;
}

/** `file:12 from 2026-12-01`. */
const originOf = ({ source, from, file }: Origin): string =>
  `${source.replace('_', '-')}${file === null ? '' : `:${file.line}`}${from === null ? '' : ` from ${from}`}`;

export function priceCommand(command: Command, { begin }: Tree): void {
  paged(command)
    .argument('[model]', 'what calls of exactly this model cost, known or not')
    .option('--provider <slug>', 'only of this provider')
    .option('--search <text>', 'a part of the model')
    .addOption(new Option('--source <source>', 'only those').choices(SOURCES))
    .action(async (model: string | undefined, options: PriceOptions) => {
      const run = begin();
      const { provider, search } = options;
      const source = options.source === 'built-in' ? ('built_in' as const) : options.source;
      const query = { ...given({ model, provider, search, source }), ...pageOf(options) };
      const answer = await (await run.client()).get('/v1/prices', { params: { query } });
      const price = (name: PriceField) => (row: { readonly prices: { readonly [Field in PriceField]?: number } }) =>
        String(row.prices[name] ?? '');
      run.show(answer, () => {
        run.table(
          [
            { title: 'PROVIDER', cell: (row) => row.provider },
            { title: 'MODEL', cell: (row) => row.model ?? '(each request)' },
            { title: 'IN $/M', cell: price('inputPerMTok') },
            { title: 'OUT $/M', cell: price('outputPerMTok') },
            { title: 'CACHED $/M', cell: price('cachedInputPerMTok') },
            { title: 'WRITE $/M', cell: price('cacheWritePerMTok') },
            { title: 'WRITE 1H $/M', cell: price('cacheWrite1hPerMTok') },
            { title: 'REQUEST $', cell: price('perRequestUsd') },
            { title: 'FROM', cell: originOf },
          ],
          answer.prices,
        );
      });
      noteRest(run, answer.prices.length, answer);
    });
}
