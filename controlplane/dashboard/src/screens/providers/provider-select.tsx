/** Selects one of all providers. */
import { Select } from '@mantine/core';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';

interface ProviderSelectProps {
  readonly value: string;
  readonly onChange: (slug: string) => void;
  readonly error: string | undefined;
}

export function ProviderSelect({ value, onChange, error }: ProviderSelectProps) {
  const providers = useProviders();
  return (
    <Select
      label="Provider"
      data={(providers.data ?? []).map(({ slug, displayName }) => ({ value: slug, label: displayName }))}
      allowDeselect={false}
      searchable
      error={error}
      value={value}
      onChange={(slug) => slug !== null && onChange(slug)}
    />
  );
}
