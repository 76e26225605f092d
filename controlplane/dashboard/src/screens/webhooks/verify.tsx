/** How a receiver sees that a delivery is the gateway's. */
import { Code, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../parts/copy-button.js';

const SNIPPET = `// crypto: Node's own module; body: the raw bytes of the request, before any parsing
function isGenuine(body, signature, secret) {
  const own = crypto.createHmac('sha256', secret).update(body).digest();
  const given = Buffer.from(signature ?? '', 'hex');
  return given.length === own.length && crypto.timingSafeEqual(given, own);
}
// isGenuine(rawBody, request.headers['x-webhook-signature'], secret)`;

export const Verify = () => (
  <Stack gap="xs" align="flex-start">
    <Text size="sm" fw={600}>
      Check each delivery
    </Text>
    <Code block w="100%" className="acg-break" tabIndex={0}>
      {SNIPPET}
    </Code>
    <CopyButton value={SNIPPET} label="Copy code" />
  </Stack>
);
