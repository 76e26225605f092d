/** A dialog with a form: errors of the server, fields, and two buttons. */
import { Button, Group, Modal, type ModalProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { RestoreFocusOnClose } from '../focus/restore-focus-on-close.js';
import { Form } from './form-with-server-errors.js';
import type { FormErrors } from './server-errors-at-form-fields.js';

interface FormDialogProps extends Pick<ModalProps, 'title' | 'size'> {
  readonly opened?: boolean;
  readonly errors: FormErrors;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Label of the button, e.g. `Save`. */
  readonly action: ReactNode;
  readonly color?: string;
  readonly pending: boolean;
  readonly disabled?: boolean;
  readonly cancel?: string;
  readonly children: ReactNode;
}

export function FormDialog({
  opened = true,
  errors,
  onSubmit,
  onClose,
  action,
  color,
  pending,
  disabled = false,
  cancel = 'Cancel',
  children,
  ...modal
}: FormDialogProps) {
  return (
    <Modal {...modal} opened={opened} onClose={onClose}>
      <RestoreFocusOnClose />
      <Form errors={errors} onSubmit={onSubmit}>
        {children}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button type="submit" loading={pending} disabled={disabled} {...(color === undefined ? {} : { color })}>
            {action}
          </Button>
        </Group>
      </Form>
    </Modal>
  );
}
