/** For tests: a DNS server that answers from a configured zone and stays silent about other names. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';

export interface Zone {
  /** Addresses by name. An empty list answers NXDOMAIN; a name that is absent is never answered. */
  [name: string]: readonly string[];
}

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NO_SUCH_NAME = 3;

export class NameServer {
  readonly zone: Zone;
  /** Queried names in order, once for each family and try. */
  readonly asked: string[] = [];
  ttlSec = 30;
  /** Names outside the zone get no answer instead of NXDOMAIN. */
  silent = true;
  /** AAAA queries get no answer. */
  muteV6 = false;
  readonly #socket: Socket;
  #changed: (() => void)[] = [];

  private constructor(zone: Zone, socket: Socket) {
    this.zone = zone;
    this.#socket = socket;
    socket.on('message', (message, from) => this.#answer(message, from));
  }

  static async start(zone: Zone): Promise<NameServer> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return new NameServer(zone, socket);
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** The distinct queried names that match `pattern`. */
  names(pattern: RegExp): Set<string> {
    return new Set(this.asked.filter((name) => pattern.test(name)));
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  stop(): void {
    this.#socket.close();
  }

  #answer(message: Buffer, from: RemoteInfo): void {
    const { name, type, end } = questionOf(message);
    this.asked.push(name);
    for (const resolve of this.#changed.splice(0)) resolve();
    const addresses = this.zone[name] ?? (this.silent ? undefined : []);
    if (addresses === undefined || (type === TYPE_AAAA && this.muteV6)) return;
    const records = addresses
      .filter((address) => isIPv4(address) === (type === TYPE_A))
      .map((address) => recordOf(type, address, this.ttlSec));
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (addresses.length === 0 ? NO_SUCH_NAME : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    this.#socket.send(Buffer.concat([head, message.subarray(12, end), ...records]), from.port, from.address);
  }
}

function questionOf(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function recordOf(type: number, address: string, ttlSec: number): Buffer {
  const bytes = type === TYPE_A ? address.split('.').map(Number) : v6Bytes(address);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0); // a pointer to the name in the question
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttlSec, 6);
  record.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([record, Buffer.from(bytes)]);
}

function v6Bytes(address: string): number[] {
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const missing = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...new Array<number>(missing).fill(0), ...groups(right)];
  return all.flatMap((group) => [group >> 8, group & 255]);
}
