/** Asks before what cannot be taken back; for the gravest, one types the name of what will be gone. */
import { Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FormDialog } from './form-dialog.js';
import { formProblem } from './form-problem.js';

const NO_FIELDS = {};

interface ConfirmProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** What the button says, e.g. `Delete agent`. */
  readonly action: string;
  /** Must be typed first. */
  readonly typed?: string;
  readonly onConfirm: () => void;
  readonly pending: boolean;
  readonly error: unknown;
}

export function Confirm({ opened, onClose, title, children, action, typed, onConfirm, pending, error }: ConfirmProps) {
  const [text, setText] = useState('');
  const ready = typed === undefined || text.trim() === typed;
  return (
    <FormDialog
      opened={opened}
      title={title}
      problem={formProblem(error, NO_FIELDS)}
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
