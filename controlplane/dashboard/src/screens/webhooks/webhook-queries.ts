/** Endpoints and deliveries as the API has them. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { formatCount } from '../../format/format.js';

export const PAGE_SIZE = 50;

export type Endpoint = Awaited<ReturnType<typeof fetchEndpoints>>['endpoints'][number];
export type EventName = Endpoint['events'][number];
export type DeliveryStatus = 'pending' | 'success' | 'failed';

/** What an endpoint can ask for, and when it comes. */
export const EVENT_DESCRIPTIONS: Readonly<Record<EventName, string>> = {
  'agent.created': 'An agent was made',
  'agent.deleted': 'An agent was deleted',
  'agent.budget_exceeded': 'An agent has spent its budget',
  'usage.threshold': 'An agent has reached a share of its budget',
  'provider.circuit_opened': 'A provider fails and is given a rest',
  'provider.circuit_closed': 'A provider works again',
  'credential.refused': 'A provider refuses a stored credential',
  'credential.accepted': 'A refused credential works again',
  'webhook.paused': 'An endpoint failed for too long',
  'abuse.detected': 'A key is used in a way that is not usual',
};

export const fetchEndpoints = (page: number) =>
  api.get('/v1/webhooks', { params: { query: { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } } });

interface DeliveryFilter {
  readonly status: DeliveryStatus | null;
  readonly event: EventName | null;
  readonly page: number;
}

export function fetchDeliveries(endpointId: string, { status, event, page }: DeliveryFilter) {
  const query = {
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(status === null ? {} : { status }),
    ...(event === null ? {} : { event }),
  };
  return api.get('/v1/webhooks/{endpointId}/deliveries', { params: { path: { endpointId }, query } });
}

export const deliveryTone = (status: DeliveryStatus): 'good' | 'bad' | 'quiet' =>
  status === 'success' ? 'good' : status === 'failed' ? 'bad' : 'quiet';

export const refreshWebhooks = (): void => void queryClient.invalidateQueries({ queryKey: ['webhooks'] });

interface ReplayInput {
  readonly start: string;
  readonly end: string;
  readonly status: ('failed' | 'success')[];
  readonly event?: EventName;
}

/** At most a thousand at a time, the oldest first. */
export async function replayDeliveries(id: string, body: ReplayInput) {
  const answer = await api.post('/v1/webhooks/{id}/replay', { params: { path: { id } }, body });
  refreshWebhooks();
  return answer;
}

export const formatReplayedCount = (deliveries: number): string =>
  deliveries === 0 ? 'Nothing there to be sent again' : `Sent again: ${formatCount(deliveries)}`;

export const useRetryDelivery = () =>
  useMutation({
    mutationFn: (deliveryId: string) =>
      api.post('/v1/webhooks/deliveries/{deliveryId}/retry', { params: { path: { deliveryId } } }),
    onSuccess: () => {
      refreshWebhooks();
      showToast('It is sent again');
    },
    onError: showErrorToast,
  });
