/** Shows the toasts; loaded after the first paint, which never has one. */
import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

export const ToastContainer = () => <Notifications position="bottom-right" />;
