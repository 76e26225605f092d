/** `acg prices`: lists prices and their sources. */
import type { RowOf } from '../../api/call-api-operation.js';
import { choiceField, mapField, textField } from '../../options/field.js';
import { groupList } from '../descriptors/register-list-commands.js';

type Price = RowOf<'GET /v1/prices', 'prices'>;

/** `file:12 from 2026-12-01`. */
const formatPriceOrigin = ({ source, from, file }: Price): string =>
  `${source.replace('_', '-')}${file === null ? '' : `:${file.line}`}${from === null ? '' : ` from ${from}`}`;

const priceCell =
  (name: keyof Price['prices']) =>
  ({ prices }: Price): string =>
    String(prices[name] ?? '');

export const registerPriceCommand = groupList({
  operation: 'GET /v1/prices',
  rows: 'prices',
  filters: {
    model: textField('[model]', 'what calls of exactly this model cost, known or not'),
    provider: textField('--provider <slug>', 'only of this provider'),
    search: textField('--search <text>', 'a part of the model'),
    source: mapField(
      choiceField('--source <source>', 'only those', ['file', 'built-in', 'library', 'fallback']),
      (source) => (source === 'built-in' ? 'built_in' : source),
    ),
  },
  columns: [
    { title: 'PROVIDER', cell: ({ provider }) => provider },
    { title: 'MODEL', cell: ({ model, tool }) => model ?? (tool === null ? '(each request)' : `tool ${tool}`) },
    { title: 'IN $/M', cell: priceCell('inputPerMTok') },
    { title: 'OUT $/M', cell: priceCell('outputPerMTok') },
    { title: 'CACHED $/M', cell: priceCell('cachedInputPerMTok') },
    { title: 'WRITE $/M', cell: priceCell('cacheWritePerMTok') },
    { title: 'WRITE 1H $/M', cell: priceCell('cacheWrite1hPerMTok') },
    { title: 'REQUEST $', cell: priceCell('perRequestUsd') },
    { title: 'FROM', cell: formatPriceOrigin },
  ],
});
