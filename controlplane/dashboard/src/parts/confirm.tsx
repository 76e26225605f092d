/** Asks before what cannot be taken back; for the gravest, one types the name of what will be gone. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
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
    <Modal opened={opened} onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) onConfirm();
        }}
      >
        <Stack gap="md">
          {formProblem(error, NO_FIELDS).above}
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
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red.9" loading={pending} disabled={!ready}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
