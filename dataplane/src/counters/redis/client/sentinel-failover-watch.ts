/**
 * Subscribes to failover announcements of all sentinels of a group. So the data plane learns of a failover while the
 * old primary still replies, on either side of a network partition. An unreachable sentinel is retried and is not an
 * error: broken connections find the primary again without this watch.
 */
import { Redis } from 'ioredis';

const CHANNEL = '+switch-master';

interface SentinelConnection {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { ca?: string };
  readonly connectTimeout: number;
  readonly keepAlive: number;
  readonly retryStrategy: (attempt: number) => number;
}

export class SentinelFailoverWatch {
  readonly #subscribers: readonly Redis[];

  constructor(
    sentinels: readonly SentinelConnection[],
    groupName: string,
    onFailover: (host: string, port: number) => void,
  ) {
    this.#subscribers = sentinels.map((sentinel) => {
      // ioredis renews the subscription after each reconnect.
      const subscriber = new Redis({ ...sentinel, protocol: 2, enableReadyCheck: false, maxRetriesPerRequest: null });
      subscriber.on('error', () => {});
      // Payload: `<group> <old host> <old port> <new host> <new port>`
      subscriber.on('message', (_channel: string, text: string) => {
        const [name, , , host, port] = text.split(' ');
        if (name === groupName) onFailover(host ?? '', Number(port));
      });
      subscriber.subscribe(CHANNEL).catch(() => {}); // only `disconnect` rejects it
      return subscriber;
    });
  }

  close(): void {
    for (const subscriber of this.#subscribers) subscriber.disconnect();
  }
}
