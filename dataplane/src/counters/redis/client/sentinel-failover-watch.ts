/**
 * Listens to every sentinel of a group for a change of its primary: told of a failover while the old primary still
 * answers, whichever part of the network this data plane is in. Silence is no news: a sentinel that is away is tried
 * again, and connections that break are looked up anew in any case.
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

  constructor(sentinels: readonly SentinelConnection[], group: string, onSwitch: (host: string, port: number) => void) {
    this.#subscribers = sentinels.map((sentinel) => {
      // Subscriptions are renewed with the connection, as often as that breaks.
      const subscriber = new Redis({ ...sentinel, protocol: 2, enableReadyCheck: false, maxRetriesPerRequest: null });
      subscriber.on('error', () => {});
      // `<group> <old host> <old port> <new host> <new port>`
      subscriber.on('message', (_channel: string, text: string) => {
        const [name, , , host, port] = text.split(' ');
        if (name === group) onSwitch(host ?? '', Number(port));
      });
      subscriber.subscribe(CHANNEL).catch(() => {}); // rejected by `disconnect` only
      return subscriber;
    });
  }

  close(): void {
    for (const subscriber of this.#subscribers) subscriber.disconnect();
  }
}
