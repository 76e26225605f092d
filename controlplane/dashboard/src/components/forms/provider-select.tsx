/** Selects one of all providers, by name and category. */
import { Select, type SelectProps } from '@mantine/core';
import { PROVIDER_CATEGORIES } from '../../messages/provider-categories.js';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';

interface ProviderSelectProps
  extends Pick<SelectProps, 'label' | 'placeholder' | 'clearable' | 'clearButtonProps' | 'disabled'> {
  /** `''`: none. */
  readonly value: string;
  /** `''`: the selection was cleared. */
  readonly onChange: (slug: string) => void;
  readonly error: string | undefined;
}

export function ProviderSelect({ value, onChange, ...props }: ProviderSelectProps) {
  const providers = useProviders().data ?? [];
  const groups = PROVIDER_CATEGORIES.map(({ category, title }) => ({
    group: title,
    items: providers
      .filter((provider) => (provider.category ?? null) === category)
      .map(({ slug, displayName }) => ({ value: slug, label: displayName })),
  }));
  return (
    <Select
      label="Provider"
      data={groups.filter(({ items }) => items.length > 0)}
      allowDeselect={false}
      searchable
      nothingFoundMessage="No provider has this name"
      maxDropdownHeight={320}
      value={value === '' ? null : value}
      onChange={(slug) => onChange(slug ?? '')}
      {...props}
    />
  );
}
