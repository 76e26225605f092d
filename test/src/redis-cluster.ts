/** A real Redis Cluster of three masters without replicas, each with a third of the slots. */
import { RedisServer } from './redis-server.js';

const SLOTS = 16_384;

export class RedisCluster {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const args = [
      '--cluster-enabled',
      'yes',
      '--cluster-require-full-coverage',
      'no',
      '--cluster-node-timeout',
      '1000',
    ];
    const nodes = await Promise.all([0, 1, 2].map(() => RedisServer.start({ args })));
    const cluster = new RedisCluster(nodes);
    for (const [index, node] of nodes.entries()) {
      const first = Math.floor((SLOTS * index) / nodes.length);
      const last = Math.floor((SLOTS * (index + 1)) / nodes.length) - 1;
      await node.admin.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last));
      await node.admin.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      if (index > 0) await nodes[0]!.admin.call('CLUSTER', 'MEET', '127.0.0.1', String(node.port));
    }
    for (const node of nodes) {
      while (!(await node.admin.cluster('INFO')).includes('cluster_slots_ok:16384')) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    return cluster;
  }

  get urls(): readonly URL[] {
    return this.nodes.map((node) => node.url);
  }

  /** Index of the node that a slot was given at the start. */
  ownerOf(slot: number): number {
    return this.nodes.findIndex((_, index) => slot < Math.floor((SLOTS * (index + 1)) / this.nodes.length));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
