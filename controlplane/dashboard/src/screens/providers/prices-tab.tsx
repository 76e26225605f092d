/** The Prices tab: prices of calls and their sources. */
import { Code, Group, NativeSelect, Text } from '@mantine/core';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { SearchInput } from '../../components/forms/search-input.js';
import { DataTable } from '../../components/tables/data-table.js';
import { NO_VALUE } from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';

const PAGE_SIZE = 50;
const PRICE_SOURCES = {
  file: 'Price file',
  built_in: 'Built-in',
  library: 'Price library',
  fallback: 'Unknown model: highest price',
} as const;
type PriceSource = keyof typeof PRICE_SOURCES;

interface PricesTabProps {
  readonly values: { readonly model: string; readonly source: string; readonly page: number };
  readonly onChange: (changes: { model?: string; source?: string; page?: number }) => void;
}

/** Prices of a column have their points below each other where cents suffice. */
const PRICES = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 9 });
const formatPrice = (price: number | undefined): string =>
  price === undefined ? NO_VALUE : `$${PRICES.format(price)}`;

export function PricesTab({ values, onChange }: PricesTabProps) {
  const { model, source, page } = values;
  const query = {
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(model === '' ? {} : { search: model }),
    ...(Object.hasOwn(PRICE_SOURCES, source) ? { source: source as PriceSource } : {}),
  };
  const prices = useQuery({
    queryKey: ['prices', query],
    queryFn: () => api.get('/v1/prices', { params: { query } }),
  });
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        US dollars per million tokens. The operator can correct prices in the price file.
      </Text>
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <SearchInput
          label="Search models"
          placeholder="Model"
          value={model}
          onChange={(text) => onChange({ model: text, page: 1 })}
        />
        <NativeSelect
          aria-label="Source"
          value={source}
          onChange={(event) => onChange({ source: event.currentTarget.value, page: 1 })}
          data={[
            { value: '', label: 'Any source' },
            ...Object.entries(PRICE_SOURCES).map(([value, label]) => ({ value, label })),
          ]}
        />
      </Group>
      <DataTable
        label="Prices"
        query={prices}
        rows={(data) => data.prices}
        rowKey={({ provider, model, tool }) => `${provider} ${model ?? ''} ${tool ?? ''}`}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage: (next) => onChange({ page: next }) })}
        empty={
          <EmptyState
            title="No prices"
            text="No model matches. Unknown models are billed at the provider’s highest price."
          />
        }
        columns={[
          { header: 'Provider', cell: ({ provider }) => providerLabel(provider) },
          {
            header: 'Model',
            cell: ({ model, tool, chargeErrors }) => {
              if (model === null && tool === null) return 'Every request';
              return (
                <>
                  {tool !== null && 'Tool '}
                  <Code className="acg-break-anywhere">{model ?? tool}</Code>
                  {chargeErrors && ' and its errors'}
                </>
              );
            },
          },
          { header: 'Input', numeric: true, cell: ({ prices }) => formatPrice(prices.inputPerMTok) },
          { header: 'Cached', numeric: true, cell: ({ prices }) => formatPrice(prices.cachedInputPerMTok) },
          {
            header: 'Cache write',
            numeric: true,
            wideOnly: true,
            cell: ({ prices }) => formatPrice(prices.cacheWritePerMTok),
          },
          {
            header: 'Cache 1 h',
            numeric: true,
            wideOnly: true,
            cell: ({ prices }) => formatPrice(prices.cacheWrite1hPerMTok),
          },
          { header: 'Output', numeric: true, cell: ({ prices }) => formatPrice(prices.outputPerMTok) },
          { header: 'Request', numeric: true, wideOnly: true, cell: ({ prices }) => formatPrice(prices.perRequestUsd) },
          {
            header: 'Source',
            cell: ({ source, from, file }) => (
              <>
                {PRICE_SOURCES[source]}
                {file !== null && `, line ${file.line}`}
                {from !== null && (
                  <Text size="xs" c="dimmed">
                    from {from}
                  </Text>
                )}
              </>
            ),
          },
        ]}
      />
    </>
  );
}
