/** What one delivery carried, and how it went. */
import { Code, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { exactTime, NONE } from '../../format/format.js';
import { CopyButton } from '../../parts/copy-button.js';
import { Failure } from '../../parts/failure.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { toneOfDelivery, useRetryDelivery } from './endpoints.js';
import { Verify } from './verify.js';

const FAILURES: Readonly<Record<string, string>> = {
  status: 'the answer is not 2xx',
  redirect: 'the answer leads elsewhere, which is not followed',
  timeout: 'no answer in time',
  connect: 'nothing answers there',
  dns: 'the name does not resolve',
  tls: 'the certificate or its handshake is wrong',
  reset: 'the connection was cut',
  protocol: 'the answer is no HTTP',
  address_refused: 'this address may not be called from here',
  secret_unreadable: 'the stored secret cannot be read: rotate it',
  network: 'the network failed',
};

interface DeliveryDrawerProps {
  /** Empty: closed. */
  readonly id: string;
  readonly onClose: () => void;
}

export function DeliveryDrawer({ id, onClose }: DeliveryDrawerProps) {
  const asked = useQuery({
    queryKey: ['webhooks', 'delivery', id],
    queryFn: () => api.get('/v1/webhooks/deliveries/{deliveryId}', { params: { path: { deliveryId: id } } }),
    enabled: id !== '',
  });
  const delivery = asked.data?.delivery;
  const retry = useRetryDelivery();
  return (
    <Drawer
      opened={id !== ''}
      onClose={onClose}
      title="Delivery"
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {delivery === undefined && asked.error === null && <Skeleton h={240} />}
      {asked.error !== null && <Failure error={asked.error} onRetry={asked.refetch} />}
      {delivery !== undefined && (
        <Stack gap="md">
          <Text size="sm" component="div">
            {delivery.event}: <StatusBadge tone={toneOfDelivery(delivery.status)}>{delivery.status}</StatusBadge>
          </Text>
          <Stack component="dl" gap={6} m={0}>
            <Fact label="Delivery" value={delivery.id} />
            <Fact label="Answer" value={delivery.statusCode ?? NONE} />
            <Fact
              label="Failure"
              value={delivery.error === null ? NONE : (FAILURES[delivery.error] ?? delivery.error)}
            />
            <Fact label="Tries" value={String(delivery.attempts)} />
            <Fact label="Last try" value={delivery.lastAttemptAt === null ? NONE : exactTime(delivery.lastAttemptAt)} />
          </Stack>
          {delivery.status === 'failed' && (
            <Group>
              <GuardedButton
                needs="member"
                size="xs"
                variant="default"
                loading={retry.isPending}
                onClick={() => retry.mutate(delivery.id)}
              >
                Send again
              </GuardedButton>
            </Group>
          )}
          <Group justify="space-between">
            <Text size="sm" fw={600}>
              Body
            </Text>
            <CopyButton value={JSON.stringify(delivery.payload)} label="Copy body" />
          </Group>
          <Code block className="acg-code" tabIndex={0}>
            {JSON.stringify(delivery.payload, null, 2)}
          </Code>
          <Verify />
        </Stack>
      )}
    </Drawer>
  );
}

const Fact = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <Group justify="space-between" align="flex-start" gap="md" wrap="nowrap">
    <Text component="dt" size="sm" c="dimmed">
      {label}
    </Text>
    <Text component="dd" size="sm" m={0} ta="right" className="acg-break acg-numbers">
      {value}
    </Text>
  </Group>
);
