/** A search input that reports the text when the user stops typing. */
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { redactTokensInText } from './redact-tokens-in-text.js';

const DEBOUNCE_MS = 250;

interface SearchInputProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function SearchInput({ label, placeholder, value, onChange }: SearchInputProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const apply = useDebouncedCallback(onChange, DEBOUNCE_MS);
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Search size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        const text = redactTokensInText(event.currentTarget.value);
        setTyped(text);
        apply(text);
      }}
      flex="1 1 180px"
    />
  );
}
