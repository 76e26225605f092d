/** A real Redis Cluster of three masters without replicas, each with a third of the slots. */
import { RedisServer } from './redis-server.js';

const SLOTS = 16_384;

const NODE_ARGS = [
  '--cluster-enabled',
  'yes',
  '--cluster-require-full-coverage',
  'no',
  '--cluster-node-timeout',
  '1000',
];

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export class RedisCluster {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const nodes = await Promise.all([0, 1, 2].map(() => RedisServer.start({ args: NODE_ARGS })));
    const cluster = new RedisCluster(nodes);
    for (const [index, node] of nodes.entries()) {
      const first = Math.floor((SLOTS * index) / nodes.length);
      const last = Math.floor((SLOTS * (index + 1)) / nodes.length) - 1;
      await node.admin.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last));
      await node.admin.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      if (index > 0) await nodes[0]!.admin.call('CLUSTER', 'MEET', '127.0.0.1', String(node.port));
    }
    for (const node of nodes) {
      await until(async () => String(await node.admin.cluster('INFO')).includes('cluster_slots_ok:16384'));
    }
    return cluster;
  }

  get urls(): readonly URL[] {
    return this.nodes.map((node) => node.url);
  }

  /** Adds a replica of a master and waits until it has its data. The caller stops it. */
  async addReplica(master: RedisServer): Promise<RedisServer> {
    const replica = await RedisServer.start({ args: NODE_ARGS });
    const masterId = String(await master.admin.cluster('MYID'));
    await replica.admin.call('CLUSTER', 'MEET', '127.0.0.1', String(master.port));
    await until(async () => String(await replica.admin.cluster('NODES')).includes(masterId));
    await until(async () => String(await master.admin.cluster('NODES')).includes(String(replica.port)));
    await until(async () => (await replica.admin.cluster('REPLICATE', masterId).catch(() => 'not yet')) === 'OK');
    await until(async () => String(await replica.admin.info('replication')).includes('master_link_status:up'));
    return replica;
  }

  /** Index of the node that a slot was given at the start. */
  ownerOf(slot: number): number {
    return this.nodes.findIndex((_, index) => slot < Math.floor((SLOTS * (index + 1)) / this.nodes.length));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
