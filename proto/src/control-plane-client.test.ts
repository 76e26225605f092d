import { Secret } from '@acg/base/secret';
import { Server, type ServiceDefinition, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { ControlPlaneClient, type LinkError } from './control-plane-client.js';
import { type GatewayHandlers, gatewayService } from './gateway-service.js';
import { createServerCredentials, isLinkAuthorized, type LinkSecurity } from './link-tls-or-shared-secret.js';
import type { IWatchEvent } from './messages.js';

const security: LinkSecurity = { tls: null, internalTokens: [new Secret('x'.repeat(40))] };
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function startServer(handlers: Partial<GatewayHandlers>): Promise<{ address: string; server: Server }> {
  const server = new Server();
  server.addService(gatewayService as unknown as ServiceDefinition, handlers as UntypedServiceImplementation);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', createServerCredentials(security), (error, p) =>
      error ? reject(error) : resolve(p),
    ),
  );
  closers.push(() => server.forceShutdown());
  return { address: `127.0.0.1:${port}`, server };
}

function connect(addresses: string[], use: LinkSecurity = security): ControlPlaneClient {
  const client = new ControlPlaneClient(addresses, use, () => 0);
  closers.push(() => client.close());
  return client;
}

const respondWithAgent =
  (slug: string): GatewayHandlers['resolveToken'] =>
  (_call, done) =>
    done(null, { outcome: 1, context: { agentSlug: slug }, revision: 7 });

/** An address without a server. */
async function startDeadAddress(): Promise<string> {
  const { address, server } = await startServer({});
  server.forceShutdown();
  return address;
}

describe('ControlPlaneClient', () => {
  it('moves a call to the next address when the first is unreachable, and prefers it', async () => {
    const dead = await startDeadAddress();
    const live = await startServer({ resolveToken: respondWithAgent('b') });
    const client = connect([dead, live.address]);
    const answer = await client.resolveToken({ tokenHash: new Uint8Array(32) }, 5_000);
    expect(answer.context?.agentSlug).toBe('b');
    expect(answer.revision).toBe(7);
    expect(client.watch({}, { onEvent: () => undefined, onEnd: () => undefined }).address).toBe(live.address);
  });

  it('calls the next address within the same deadline when the first is silent', async () => {
    const silent = await startServer({ resolveToken: () => undefined });
    const live = await startServer({ resolveToken: respondWithAgent('b') });
    const client = connect([silent.address, live.address]);
    const answer = await client.resolveToken({}, 2_000);
    expect(answer.context?.agentSlug).toBe('b');
  });

  it('rejects with the status when no instance responds', async () => {
    const client = connect([await startDeadAddress(), await startDeadAddress()]);
    const error = (await client.resolveToken({}, 2_000).catch((e: unknown) => e)) as LinkError;
    expect(error.code).toBe(status.UNAVAILABLE);
  });

  it('does not repeat a rejected call on another instance', async () => {
    let asked = 0;
    const reject: GatewayHandlers['resolveToken'] = (_call, done) => {
      asked++;
      done({ code: status.FAILED_PRECONDITION, details: 'set REDIS_URL' });
    };
    const a = await startServer({ resolveToken: reject });
    const b = await startServer({ resolveToken: reject });
    const error = (await connect([a.address, b.address])
      .resolveToken({}, 2_000)
      .catch((e: unknown) => e)) as LinkError;
    expect(error.details).toBe('set REDIS_URL');
    expect(asked).toBe(1);
  });

  it('sends the shared secret, which the server checks', async () => {
    const seen: boolean[] = [];
    const live = await startServer({
      resolveToken: (call, done) => {
        seen.push(isLinkAuthorized(security, call.metadata));
        done(null, {});
      },
    });
    await connect([live.address]).resolveToken({}, 2_000);
    await connect([live.address], { tls: null, internalTokens: [new Secret('y'.repeat(40))] }).resolveToken({}, 2_000);
    expect(seen).toEqual([true, false]);
  });

  it('watch delivers events in order, reports the end once, and uses another address next', async () => {
    const first = await startServer({
      watch: (call) => {
        call.write({ revision: 1, heartbeat: {} });
        call.write({ revision: 2, heartbeat: {} });
        call.end();
      },
    });
    const second = await startServer({ watch: (call) => void call.write({ revision: 3, heartbeat: {} }) });
    const client = connect([first.address, second.address]);
    const events: IWatchEvent[] = [];
    const end = await new Promise<LinkError>((onEnd) => client.watch({}, { onEvent: (e) => events.push(e), onEnd }));
    expect(events.map((e) => e.revision)).toEqual([1, 2]);
    expect(end.code).toBe(status.UNAVAILABLE);
    const next = await new Promise<IWatchEvent>((onEvent) => {
      expect(client.watch({}, { onEvent, onEnd: () => undefined }).address).toBe(second.address);
    });
    expect(next.revision).toBe(3);
  });
});
