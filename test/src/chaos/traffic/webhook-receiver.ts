/** Receives the run's webhooks and records them; fails every third request. */
import type { ServerResponse } from 'node:http';
import { isSignatureValid, startReceiver } from '../../webhooks/webhook-receiver.js';
import type { ReceivedDelivery } from '../invariants/budget-event-delivery.js';
import type { Tenants } from './tenants.js';

/** Every n-th request is answered with 500. */
const FAIL_EVERY_NTH_REQUEST = 3;

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export class ChaosWebhookReceiver {
  readonly #answers = new Map<string, boolean[]>();

  private constructor(readonly receiver: Receiver) {}

  /** `paths`: the paths of the endpoints. */
  static async start(paths: readonly string[]): Promise<ChaosWebhookReceiver> {
    const deliveries = new ChaosWebhookReceiver(await startReceiver());
    let requests = 0;
    for (const path of paths) {
      deliveries.receiver.on(path, (response: ServerResponse, { deliveryId }) => {
        const accepted = ++requests % FAIL_EVERY_NTH_REQUEST !== 1; // the very first one fails
        response.writeHead(accepted ? 200 : 500).end();
        deliveries.#answers.set(deliveryId, [...(deliveries.#answers.get(deliveryId) ?? []), accepted]);
      });
    }
    return deliveries;
  }

  listReceivedDeliveries({ webhookSecrets, agents }: Tenants): ReceivedDelivery[] {
    const names = new Map(agents.map(({ id, agent }) => [id, agent]));
    const seen = new Map<string, number>();
    return this.receiver.received.map((one) => {
      const nth = seen.get(one.deliveryId) ?? 0;
      seen.set(one.deliveryId, nth + 1);
      const { data } = JSON.parse(one.body) as { data: { agentId: string } };
      return {
        deliveryId: one.deliveryId,
        event: one.event,
        agent: names.get(data.agentId) ?? '',
        accepted: this.#answers.get(one.deliveryId)?.[nth] ?? false,
        genuine: isSignatureValid(webhookSecrets.get(one.path.slice(1)) ?? '', one),
      };
    });
  }
}
