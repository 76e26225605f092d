/** The attempts of a delivery, the newest first, with what the receiver responded. */
import { Code, Stack, Text } from '@mantine/core';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { formatExactTime, formatMilliseconds } from '../../format/format.js';

export const FAILURE_TEXTS: Readonly<Record<string, string>> = {
  status: 'the response status was not 2xx',
  redirect: 'the response was a redirect, which is not followed',
  timeout: 'the request timed out',
  connect: 'the connection failed',
  dns: 'the host name does not resolve',
  tls: 'the TLS handshake or the certificate failed',
  reset: 'the connection was reset',
  protocol: 'the response was not valid HTTP',
  address_refused: 'the gateway is not allowed to call this address',
  secret_unreadable: 'the stored secret cannot be read; rotate it',
  network: 'network error',
};

interface Attempt {
  readonly at: string;
  readonly statusCode: string | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly responseBody: string | null;
}

export function DeliveryAttempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return null;
  return (
    <section aria-label="Attempts">
      <Text size="sm" fw={600} mb="xs">
        Attempts
      </Text>
      <Stack component="ul" gap="sm" className="acg-plain-list">
        {attempts.toReversed().map(({ at, statusCode, error, durationMs, responseBody }) => (
          <li key={at}>
            <Text size="sm" component="div">
              <StatusBadge tone={error === null ? 'success' : 'error'}>
                {statusCode ?? FAILURE_TEXTS[error ?? ''] ?? 'no response'}
              </StatusBadge>{' '}
              {formatExactTime(at)}, {formatMilliseconds(durationMs)}
            </Text>
            {responseBody !== null && responseBody !== '' && (
              <Code block className="acg-code acg-break-anywhere" tabIndex={0}>
                {responseBody}
              </Code>
            )}
          </li>
        ))}
      </Stack>
    </section>
  );
}
