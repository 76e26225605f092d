/** Toasts: short messages in the corner, announced to screen readers. Errors stay until dismissed. */
import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { describeError } from '../../api/describe-error.js';

export const showToast = (message: ReactNode, color: 'green' | 'yellow' = 'green'): void =>
  void notifications.show({ message, color });

export function showErrorToast(error: unknown): void {
  const { text, requestId } = describeError(error);
  notifications.show({
    title: 'Something went wrong',
    message: requestId === null ? text : `${text} (request ${requestId})`,
    color: 'red',
    autoClose: false,
  });
}
