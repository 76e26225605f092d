/**
 * Shows a secret once. The secret exists only in the parent's state. The dialog closes only by its button, so that it
 * cannot be closed by accident.
 */
import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyButton } from '../buttons/copy-button.js';
import { RestoreFocusOnClose } from '../focus/restore-focus-on-close.js';

interface SecretDialogProps {
  readonly title: string;
  /** Null: closed. */
  readonly secret: string | null;
  readonly children?: ReactNode;
  readonly onStored: () => void;
}

export function SecretDialog({ title, secret, children, onStored }: SecretDialogProps) {
  return (
    <Modal
      opened={secret !== null}
      onClose={onStored}
      title={title}
      size="lg"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <RestoreFocusOnClose />
      <Stack gap="md">
        <Alert color="yellow" variant="light" title="Shown once">
          <Text size="sm">Copy it now and store it with your other secrets. It cannot be shown again.</Text>
        </Alert>
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <Code block className="acg-code" flex={1} tabIndex={0} data-secret>
            {secret}
          </Code>
          <CopyButton value={secret ?? ''} />
        </Group>
        {children}
        <Group justify="flex-end">
          <Button onClick={onStored}>I stored it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
