/** The name of an object: the first field of its form. */
import { TextInput, type TextInputProps } from '@mantine/core';

/** The API's limit, characters. */
const NAME_CHARS_MAX = 200;

interface NameInputProps extends Omit<TextInputProps, 'onChange'> {
  readonly value: string;
  readonly onChange: (name: string) => void;
}

export function NameInput({ onChange, ...input }: NameInputProps) {
  return (
    <TextInput
      label="Name"
      required
      maxLength={NAME_CHARS_MAX}
      data-autofocus
      autoComplete="off"
      {...input}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
