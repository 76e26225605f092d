/**
 * Runs the data plane's real server between raw sockets and a strict upstream. A probe is done when ordinary calls that
 * started after its last byte have completed, so no probe waits for a fixed time.
 */
import { connect, type Socket } from 'node:net';
import {
  createContext,
  createUpstream,
  GATEWAY_TOKEN,
  PROVIDER_KEY,
  ProxyFixture,
} from '@acg/dataplane/call/testing/proxy-fixture';
import { StrictUpstream } from './strict-upstream.js';

export { GATEWAY_TOKEN, PROVIDER_KEY } from '@acg/dataplane/call/testing/proxy-fixture';

export interface ProbeResponse {
  /** Status codes of the responses in order, without interim ones. */
  readonly statuses: readonly number[];
  readonly raw: string;
  /** True when the server closed the connection. */
  readonly closed: boolean;
}

/** The target of the probes: a server in this process or a whole gateway elsewhere. */
interface ProbedGateway {
  readonly port: number;
  /** Number of exceptions in handlers, as far as the gateway reports them. */
  readonly bugs: number;
  stop(): Promise<void>;
}

export class ProbeHarness {
  constructor(
    readonly gateway: ProbedGateway,
    /** Upstream of the probes; slug `probe`. */
    readonly upstream: StrictUpstream,
    /** Upstream of the calls that check that the gateway still serves; slug `alive`. */
    readonly alive: StrictUpstream,
    /** Replaces `GATEWAY_TOKEN` in the probes; must have the same length. */
    readonly token: string = GATEWAY_TOKEN,
    readonly providerKey: string = PROVIDER_KEY,
  ) {}

  static async start(): Promise<ProbeHarness> {
    const upstream = await new StrictUpstream().start();
    const alive = await new StrictUpstream().start();
    const context = createContext([
      { ...createUpstream(`http://${upstream.host}`), providerSlug: 'probe', basePath: '/base' },
      { ...createUpstream(`http://${alive.host}`), providerSlug: 'alive' },
    ]);
    return new ProbeHarness(await ProxyFixture.start(context), upstream, alive);
  }

  /** Sends each chunk as its own TCP segment and returns the responses. */
  async sendProbe(segments: readonly (string | Buffer)[]): Promise<ProbeResponse> {
    const socket = await this.#openSocket();
    const chunks: Buffer[] = [];
    let closed = false;
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => {
      closed = true;
    });
    for (const [index, piece] of segments.entries()) {
      if (index > 0) await this.waitForRoundTrips();
      if (!socket.destroyed) socket.write(this.#withToken(piece));
    }
    for (let i = 0; i < 3; i++) await this.waitForRoundTrips();
    socket.destroy();
    const raw = Buffer.concat(chunks).toString('latin1');
    const statuses = [...raw.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
    return { raw, closed, statuses: statuses.filter((status) => status >= 200) };
  }

  /** Makes one ordinary call to the other upstream; throws when the gateway does not serve it. */
  async waitForRoundTrips(): Promise<void> {
    const socket = await this.#openSocket();
    const answer = new Promise<string>((done) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (text.endsWith('\r\n\r\nok')) socket.destroy();
      });
      socket.on('close', () => done(text));
    });
    socket.write(`GET /v1/proxy/alive/x HTTP/1.1\r\nhost: gw\r\nauthorization: Bearer ${this.token}\r\n\r\n`);
    const text = await answer;
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(`the gateway does not serve: ${JSON.stringify(text)}`);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.upstream.close();
    await this.alive.close();
  }

  #withToken(piece: string | Buffer): Buffer {
    const text = typeof piece === 'string' ? piece : piece.toString('latin1');
    return Buffer.from(text.replaceAll(GATEWAY_TOKEN, this.token), 'latin1');
  }

  #openSocket(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.gateway.port, '127.0.0.1', () => {
        socket.setNoDelay(true);
        resolve(socket);
      });
      socket.once('error', reject);
      socket.on('error', () => {});
    });
  }
}
