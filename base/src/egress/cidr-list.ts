/** A list of address ranges as operators write them (`10.0.0.0/8,fd00::/8,127.0.0.1`). */
import { BlockList, isIP } from 'node:net';

export class CidrList {
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();
  readonly empty: boolean;

  /** Throws a `RangeError` that names the entry that is neither an address nor a range. */
  constructor(cidrs: readonly string[]) {
    this.empty = cidrs.length === 0;
    for (const cidr of cidrs) this.#add(cidr);
  }

  /**
   * Whether a literal address is in one of the ranges. IPv4-mapped IPv6 (`::ffff:a.b.c.d`) counts as IPv4, and `::1` as
   * 127.0.0.1, because `localhost` resolves to both.
   */
  includes(address: string): boolean {
    if (this.empty) return false;
    const plain = unmapIpv4(address);
    if (plain === '::1' && this.#v4.check('127.0.0.1', 'ipv4')) return true;
    const family = isIP(plain);
    if (family === 4) return this.#v4.check(plain, 'ipv4');
    return family === 6 && this.#v6.check(plain, 'ipv6');
  }

  #add(cidr: string): void {
    const slash = cidr.indexOf('/');
    const address = slash === -1 ? cidr : cidr.slice(0, slash);
    const family = isIP(address);
    const widest = family === 6 ? 128 : 32;
    const bits = slash === -1 ? widest : parsePrefixLength(cidr.slice(slash + 1));
    if (family === 0 || bits > widest) throw new RangeError(`${cidr} is not an address range such as 10.0.0.0/8`);
    if (family === 4) this.#v4.addSubnet(address, bits, 'ipv4');
    else this.#v6.addSubnet(address, bits, 'ipv6');
  }
}

/** Returns the first entry that is not an address range, or null. */
export function findInvalidCidr(cidrs: readonly string[]): string | null {
  for (const cidr of cidrs) {
    try {
      new CidrList([cidr]);
    } catch {
      return cidr;
    }
  }
  return null;
}

const IPV4_MAPPED_PATTERN =
  /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d{1,3}(?:\.\d{1,3}){3})|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;

/** Converts `::ffff:10.0.0.1` in any spelling, as a dual-stack socket reports an IPv4 peer, to `10.0.0.1`. */
export function unmapIpv4(address: string): string {
  if (!address.includes(':')) return address;
  const parts = IPV4_MAPPED_PATTERN.exec(address);
  if (parts === null) return address;
  if (parts[1] !== undefined) return parts[1];
  const [high, low] = [Number.parseInt(parts[2]!, 16), Number.parseInt(parts[3]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

const parsePrefixLength = (text: string): number => (/^\d{1,3}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY);
