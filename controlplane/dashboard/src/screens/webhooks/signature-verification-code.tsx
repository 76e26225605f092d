/** Code samples that verify the signature of a delivery. */
import { Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '../../components/buttons/copy-button.js';

/** Any signature may match: during a rotation there is one per secret. */
const CODE = {
  'Node.js': `// crypto: the module of Node.js; body: the raw bytes of the request, before parsing
function isGenuine(body, signatures, secret) {
  const own = crypto.createHmac('sha256', secret).update(body).digest();
  return String(signatures).split(',').some((one) => {
    const given = Buffer.from(one.replace('v1=', ''), 'hex');
    return given.length === own.length && crypto.timingSafeEqual(given, own);
  });
}
// isGenuine(rawBody, request.headers['x-webhook-signatures'], secret)`,
  Python: `# body: the raw bytes of the request, before parsing
import hashlib, hmac

def is_genuine(body, signatures, secret):
    own = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(own, one.removeprefix("v1=")) for one in (signatures or "").split(","))
# is_genuine(raw_body, request.headers.get("X-Webhook-Signatures"), secret)`,
} as const;
type Language = keyof typeof CODE;
const LANGUAGES = Object.keys(CODE) as Language[];

export function SignatureVerificationCode() {
  const [language, setLanguage] = useState<Language>('Node.js');
  return (
    <Stack gap="xs" component="section" aria-label="Verify signatures">
      <Group justify="space-between" gap="sm">
        <Text size="sm" fw={600}>
          Verify signatures
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Language"
          data={LANGUAGES}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
      </Group>
      <Code block w="100%" className="acg-code" tabIndex={0} data-verify>
        {CODE[language]}
      </Code>
      <Group>
        <CopyButton value={CODE[language]} label="Copy code" />
      </Group>
    </Stack>
  );
}
