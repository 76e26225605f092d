/**
 * A primary, its replica and three sentinels. All clients and the servers themselves reach a server through the proxy
 * in front of it, so that a cut isolates it from all others.
 */

import { RedisServer } from '../../fixtures/redis-server.js';
import { RedisSentinel, SENTINEL_GROUP, SENTINEL_PASSWORD } from '../../fixtures/sentinel-process.js';
import { TcpProxy } from '../../fixtures/tcp-proxy.js';

const SENTINELS = 3;
const QUORUM = 2;

interface RedisMember {
  readonly server: RedisServer;
  readonly proxy: TcpProxy;
}

export class RedisSentinelGroup {
  private constructor(
    readonly members: readonly RedisMember[],
    readonly sentinels: readonly RedisSentinel[],
  ) {}

  static async start(): Promise<RedisSentinelGroup> {
    const members = [await startMember(), await startMember()];
    const [first, second] = members;
    await second!.server.admin.call('REPLICAOF', '127.0.0.1', String(first!.proxy.port));
    const sentinels = await RedisSentinel.startGroup(first!.proxy, SENTINELS, QUORUM);
    return new RedisSentinelGroup(members, sentinels);
  }

  get sentinelUrl(): string {
    const hosts = this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `redis+sentinel://${hosts}/${SENTINEL_GROUP}/0?sentinelPassword=${encodeURIComponent(SENTINEL_PASSWORD)}`;
  }

  /** The primary according to the sentinels. */
  async primary(): Promise<RedisMember> {
    const port = await this.sentinels[0]!.primaryPort();
    return this.members.find(({ proxy }) => proxy.port === port)!;
  }

  async triggerFailover(): Promise<void> {
    await this.sentinels[0]!.admin.call('SENTINEL', 'FAILOVER', SENTINEL_GROUP).catch(
      () => 'there is no good replica just now',
    );
  }

  /**
   * True when all sentinels name the same primary, that server has the primary role, and no failover is in progress.
   */
  async doSentinelsAgree(): Promise<boolean> {
    const ports = new Set<number>();
    for (const { admin } of this.sentinels) {
      const [state] = (await admin.call('SENTINEL', 'MASTERS')) as string[][];
      const field = (name: string): string | undefined => state?.[state.indexOf(name) + 1];
      if (field('flags') !== 'master') return false; // s_down, o_down, failover_in_progress
      ports.add(Number(field('port')));
    }
    const primary = await this.primary();
    return ports.size === 1 && String(await primary.server.admin.info('replication')).includes('role:master');
  }

  /** True when one server is the primary and the other one has its data. */
  async isReplicaInSync(): Promise<boolean> {
    const primary = await this.primary();
    for (const member of this.members) {
      const info = String(await member.server.admin.info('replication'));
      const isWell =
        member === primary ? /role:master[\s\S]*connected_slaves:1/ : /role:slave[\s\S]*master_link_status:up/;
      if (!isWell.test(info)) return false;
    }
    return true;
  }

  async stop(): Promise<void> {
    await Promise.all(this.sentinels.map((sentinel) => sentinel.stop()));
    await Promise.all(this.members.map(({ server }) => server.stop()));
    await Promise.all(this.members.map(({ proxy }) => proxy.stop()));
  }
}

async function startMember(): Promise<RedisMember> {
  const proxy = await TcpProxy.start(0);
  const announced = ['--replica-announce-ip', '127.0.0.1', '--replica-announce-port', String(proxy.port)];
  const server = await RedisServer.start({ args: ['--repl-diskless-sync-delay', '0', ...announced] });
  proxy.targetPort = server.port;
  return { server, proxy };
}
