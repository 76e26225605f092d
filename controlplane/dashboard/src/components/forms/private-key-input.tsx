/** An input of several lines for a private key. A file of its own, because few forms need its code. */
export { Textarea as PrivateKeyInput } from '@mantine/core';
