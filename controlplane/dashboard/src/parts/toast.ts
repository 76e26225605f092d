/** Short news in the corner, also read out; a failure stays until it is dismissed. */
import { notifications } from '@mantine/notifications';
import { problemOf } from '../api/problem.js';

export const toast = (message: string): void => void notifications.show({ message, color: 'green' });

export function toastFailure(error: unknown): void {
  const { text, requestId } = problemOf(error);
  notifications.show({
    title: 'This did not work',
    message: requestId === null ? text : `${text} (request ${requestId})`,
    color: 'red',
    autoClose: false,
  });
}
