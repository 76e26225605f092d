/** Asks before what cannot be taken back; for the gravest, one types the name of what will be gone. */
import { Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FormDialog } from './form-dialog.js';
import { formErrors } from './form-errors.js';

const NO_FIELDS = {};

interface ConfirmDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** What the button says, e.g. `Delete agent`. */
  readonly action: string;
  /** Must be typed first. */
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
  requiredText: typed,
  onConfirm,
  pending,
  error,
}: ConfirmDialogProps) {
  const [text, setText] = useState('');
  const ready = typed === undefined || text.trim() === typed;
  return (
    <FormDialog
      opened={opened}
      title={title}
      problem={formErrors(error, NO_FIELDS)}
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
      {typed !== undefined && (
        <TextInput
          label={`Type ${typed} to go on`}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      )}
    </FormDialog>
  );
}
