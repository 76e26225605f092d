/** Confirms an action that cannot be undone. With `requiredText`, the user must type that text first. */
import { Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FormDialog } from './form-dialog.js';
import { formErrors } from './server-errors-at-form-fields.js';

const NO_FIELDS = {};

interface ConfirmDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** Label of the button, e.g. `Delete agent`. */
  readonly action: string;
  /** Text that the user must type to confirm. */
  readonly requiredText?: string;
  readonly onConfirm: () => void;
  readonly pending: boolean;
  readonly error: unknown;
}

export function ConfirmDialog({
  opened,
  onClose,
  title,
  children,
  action,
  requiredText,
  onConfirm,
  pending,
  error,
}: ConfirmDialogProps) {
  const [text, setText] = useState('');
  const ready = requiredText === undefined || text.trim() === requiredText;
  return (
    <FormDialog
      opened={opened}
      title={title}
      errors={formErrors(error, NO_FIELDS)}
      onSubmit={() => ready && onConfirm()}
      action={action}
      color="red.9"
      pending={pending}
      disabled={!ready}
      onClose={onClose}
    >
      <Text size="sm" component="div">
        {children}
      </Text>
      {requiredText !== undefined && (
        <TextInput
          label={`Type “${requiredText}” to confirm`}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      )}
    </FormDialog>
  );
}
