/** Queries of webhook endpoints and deliveries. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { formatCount } from '../../format/format.js';
import type { EventName } from '../../resources/use-event-types.js';

export const PAGE_SIZE = 50;
/** All endpoints of an organization. */
export const ENDPOINTS_SHOWN = 100;
export const DELIVERY_SORTS = ['createdAt', 'lastAttemptAt', 'attempts'] as const;

export type Endpoint = Awaited<ReturnType<typeof fetchEndpoints>>['endpoints'][number];
export type DeliveryStatus = 'pending' | 'success' | 'failed';

export const fetchEndpoints = (page: number) =>
  api.get('/v1/webhooks', { params: { query: { limit: ENDPOINTS_SHOWN, offset: (page - 1) * ENDPOINTS_SHOWN } } });

interface DeliveryFilter {
  readonly status: DeliveryStatus | null;
  readonly event: EventName | null;
  readonly page: number;
  readonly sort: (typeof DELIVERY_SORTS)[number];
  readonly order: 'asc' | 'desc';
}

export function fetchDeliveries(endpointId: string, { status, event, page, ...sorting }: DeliveryFilter) {
  const query = {
    ...sorting,
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(status === null ? {} : { status }),
    ...(event === null ? {} : { event }),
  };
  return api.get('/v1/webhooks/{endpointId}/deliveries', { params: { path: { endpointId }, query } });
}

export const refreshWebhooks = (): void => void queryClient.invalidateQueries({ queryKey: ['webhooks'] });

interface ReplayInput {
  readonly start: string;
  readonly end: string;
  readonly status: ('failed' | 'success')[];
  readonly event?: EventName;
}

/** Replays at most 1,000 deliveries, the oldest first. */
export async function replayDeliveries(id: string, body: ReplayInput) {
  const response = await api.post('/v1/webhooks/{id}/replay', { params: { path: { id } }, body });
  refreshWebhooks();
  return response;
}

export const formatReplayedCount = (deliveries: number): string =>
  deliveries === 0 ? 'No deliveries to replay' : `Replayed: ${formatCount(deliveries)}`;

export const useRetryDelivery = () =>
  useMutation({
    mutationFn: (deliveryId: string) =>
      api.post('/v1/webhooks/deliveries/{deliveryId}/retry', { params: { path: { deliveryId } } }),
    onSuccess: () => {
      refreshWebhooks();
      showToast('Delivery retried');
    },
    onError: showErrorToast,
  });
