/** A drawer with the payload and result of a delivery. */
import { Code, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { CopyButton } from '../../components/buttons/copy-button.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { DetailRow } from '../../components/feedback/detail-row.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { formatExactTime, NO_VALUE } from '../../format/format.js';
import { DeliveryAttempts, FAILURE_TEXTS } from './delivery-attempts.js';
import { DeliveryStatusBadge } from './delivery-status-badge.js';
import { useRetryDelivery } from './fetch-webhooks-retry-deliveries.js';
import { SignatureVerificationCode } from './signature-verification-code.js';

interface DeliveryDrawerProps {
  /** Empty: closed. */
  readonly id: string;
  readonly onClose: () => void;
}

export function DeliveryDrawer({ id, onClose }: DeliveryDrawerProps) {
  const deliveryQuery = useQuery({
    queryKey: ['webhooks', 'delivery', id],
    queryFn: () => api.get('/v1/webhooks/deliveries/{deliveryId}', { params: { path: { deliveryId: id } } }),
    enabled: id !== '',
  });
  const delivery = deliveryQuery.data?.delivery;
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
      {delivery === undefined && deliveryQuery.error === null && <Skeleton h={240} />}
      {deliveryQuery.error !== null && <ErrorAlert error={deliveryQuery.error} onRetry={deliveryQuery.refetch} />}
      {delivery !== undefined && (
        <Stack gap="md">
          <Text size="sm" component="div">
            {delivery.event}: <DeliveryStatusBadge delivery={delivery} />
          </Text>
          <Stack component="dl" gap={6} m={0}>
            <DetailRow label="Delivery">{delivery.id}</DetailRow>
            <DetailRow label="Response">{delivery.statusCode ?? NO_VALUE}</DetailRow>
            <DetailRow label="Failure">
              {delivery.error === null ? NO_VALUE : (FAILURE_TEXTS[delivery.error] ?? delivery.error)}
            </DetailRow>
            <DetailRow label="Attempts">{delivery.attempts}</DetailRow>
            <DetailRow label="Last attempt">
              {delivery.lastAttemptAt === null ? NO_VALUE : formatExactTime(delivery.lastAttemptAt)}
            </DetailRow>
          </Stack>
          <DeliveryAttempts attempts={delivery.attemptLog} />
          {delivery.status === 'failed' && (
            <Group>
              <RoleGuardedButton
                requiredRole="member"
                size="xs"
                variant="default"
                loading={retry.isPending}
                onClick={() => retry.mutate(delivery.id)}
              >
                Retry
              </RoleGuardedButton>
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
          <SignatureVerificationCode />
        </Stack>
      )}
    </Drawer>
  );
}
