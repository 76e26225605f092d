/** A form in a page; errors of the server appear above its fields. */
import { Stack, type StackProps } from '@mantine/core';
import type { FormErrors } from './server-errors-at-form-fields.js';

interface FormProps extends Omit<StackProps, 'onSubmit'> {
  readonly errors: FormErrors;
  readonly onSubmit: () => void;
}

export function Form({ errors, onSubmit, children, ...stack }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Stack gap="md" {...stack}>
        {errors.formError}
        {children}
      </Stack>
    </form>
  );
}
