/** Short news in the corner, also read out; a failure stays until it is dismissed. */
import { notifications } from '@mantine/notifications';
import { describeError } from '../../api/describe-error.js';

export const showToast = (message: string): void => void notifications.show({ message, color: 'green' });

export function showErrorToast(error: unknown): void {
  const { text, requestId } = describeError(error);
  notifications.show({
    title: 'This did not work',
    message: requestId === null ? text : `${text} (request ${requestId})`,
    color: 'red',
    autoClose: false,
  });
}
