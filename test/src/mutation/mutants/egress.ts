import type { Area } from '../mutant.js';

const CHECK_URL = 'base/src/egress/check-url.ts';
const CIDR_LIST = 'base/src/egress/cidr-list.ts';
const GUARD = 'base/src/egress/egress-guard.ts';
const PUBLIC_ADDRESS = 'base/src/egress/public-address.ts';
const DIALER = 'base/src/dialer/dialer.ts';
const RACE = 'base/src/dialer/happy-eyeballs.ts';
const ORDER = 'base/src/dialer/address-order.ts';
const TENANT_NAMES = 'base/src/dns/tenant-name-resolver.ts';
const OPERATOR_NAMES = 'base/src/dns/operator-name-resolver.ts';
const SLOTS = 'base/src/dns/lookup-semaphore.ts';
const QUERY = 'base/src/dns/address-query.ts';
const RESOLV_CONF = 'base/src/dns/resolv-conf.ts';

export const EGRESS: Area = {
  name: 'egress',
  tests: ['base/src/egress', 'base/src/dialer', 'base/src/names'],
  built: false,
  mutants: [
    {
      file: CHECK_URL,
      find: `if (authority.includes('@')) return 'must not contain a user name or password';
`,
      put: '',
      bug: 'a user name hides the host that is really connected',
    },
    {
      file: CHECK_URL,
      find: "return host.endsWith('.') ? host.slice(0, -1) : host;",
      put: 'return host;',
      bug: 'a trailing dot bypasses the rules for names',
    },
    {
      file: CHECK_URL,
      find: 'addresses.length > 0 && addresses.every',
      put: 'addresses.length > 0 && addresses.some',
      bug: 'one allowed address of a name lifts the rules for all of them',
    },
    {
      file: CHECK_URL,
      find: `if (!ALLOWED_PORTS.has(port)) return \`the port \${port} is not allowed (\${[...ALLOWED_PORTS].join(', ')} are)\`;
`,
      put: '',
      bug: 'a tenant reaches any port of a public address',
    },
    {
      file: CHECK_URL,
      find: "if (options.httpsOnly === true && url.protocol !== 'https:') return 'must start with https://';\n",
      put: '',
      bug: 'credentials go out in plain text where https is demanded',
    },
    {
      file: CHECK_URL,
      find: '!isPublicAddress(address) && !allowed.includes(address)',
      put: '!isPublicAddress(address) && allowed.includes(address)',
      bug: 'a name that leads into the private network is saved',
    },
    {
      file: GUARD,
      find: 'if (addresses.every(({ address }) => allowed.includes(address))) return null;',
      put: 'if (addresses.some(({ address }) => allowed.includes(address))) return null;',
      bug: 'one allowed address among the results allows private ones',
    },
    {
      file: GUARD,
      find: 'if (!isPublicAddress(address) && !allowed.includes(address))',
      put: 'if (!isPublicAddress(address))',
      bug: 'a name with an allowed and a public address is rejected',
    },
    {
      file: GUARD,
      find: `return findHostProblem(host, port);`,
      put: 'return null;',
      bug: 'port and name are not checked when connecting',
    },
    {
      file: PUBLIC_ADDRESS,
      find: "  ['169.254.0.0', 16],\n",
      put: '',
      bug: 'the metadata service of the cloud counts as public',
    },
    {
      file: PUBLIC_ADDRESS,
      find: "  ['100.64.0.0', 10],\n",
      put: '',
      bug: "the carrier's own range counts as public",
    },
    {
      file: PUBLIC_ADDRESS,
      find: "  ['2002::', 16], // 6to4 carries any IPv4 address\n",
      put: '',
      bug: 'a private IPv4 address passes as 6to4',
    },
    {
      file: PUBLIC_ADDRESS,
      find: "V6_GLOBAL.check(address, 'ipv6') && !V6_SPECIAL",
      put: '!V6_SPECIAL',
      bug: 'unique-local and mapped IPv6 addresses count as public',
    },
    {
      file: CIDR_LIST,
      find: 'bits > widest',
      put: 'bits > 128',
      bug: 'an IPv4 range with more than 32 bits is accepted',
    },
    {
      file: CIDR_LIST,
      find: `const plain = unmapIpv4(address);`,
      put: 'const plain = address;',
      bug: 'an allowed IPv4 address is not recognized as IPv4-mapped IPv6',
    },
    {
      file: DIALER,
      find: `return tenant === null ? null : checkEgress(hostname, port, addresses, this.#allowed);`,
      put: 'return null;',
      bug: 'no tenant-supplied URL is rejected before connecting',
    },
    {
      file: DIALER,
      find: '(tenant === null ? operatorNames : tenantNames).resolve',
      put: 'operatorNames.resolve',
      bug: "tenants' names are looked up with the operator's",
    },
    {
      file: DIALER,
      find: "`${tenant === null ? 'own' : 'tenants'} ${hostname}:${port}`",
      put: '`${hostname}:${port}`',
      bug: 'a tenant that names the host of a built-in provider shares its TLS sessions',
      tests: ['dataplane/src/upstream/connections/dial.test.ts'],
    },
    {
      file: DIALER,
      find: '        socket?.destroy();\n',
      put: '',
      bug: 'a connection that comes after the timeout stays open',
      equivalent: 'the timeout stops the race, which drops its sockets and makes no further callbacks',
    },
    {
      file: RACE,
      find: `    if (problem !== null) {
      this.#fail(problem);
      return;
    }
`,
      put: '',
      bug: 'the address of the connected peer is not checked',
    },
    {
      file: RACE,
      find: `if (this.#nextAddressIndex < this.#options.addresses.length) this.#tryNext();
    else if`,
      put: 'if',
      bug: 'after an address that fails at once the others are not tried',
    },
    {
      file: RACE,
      find: `for (const other of this.#sockets) if (other !== socket) this.#destroySocket(other);`,
      put: '',
      bug: 'the slower connections of a TLS race stay open',
    },
    {
      file: ORDER,
      find: 'if (i < second.length) ordered.push(second[i]!);',
      put: '',
      bug: 'only one family of addresses is tried',
    },
    {
      file: TENANT_NAMES,
      find: `await this.#slots.acquire(owner)`,
      put: `await this.#slots.acquire('')`,
      bug: 'slow names of one tenant use up the lookups of all',
    },
    {
      file: TENANT_NAMES,
      find: `      this.#slots.release(owner);
`,
      put: '',
      bug: 'a tenant can look up eight names and then none ever again',
    },
    {
      file: TENANT_NAMES,
      find: 'Math.min(TTL_SEC_MAX, Math.max(TTL_SEC_MIN, ttlSec))',
      put: 'Math.max(TTL_SEC_MIN, ttlSec)',
      bug: 'a long TTL keeps an address for days',
    },
    {
      file: OPERATOR_NAMES,
      find: `if (known !== undefined && now < known.usableUntilPerfMs) {`,
      put: 'if (known !== undefined && now < known.freshUntilTick) {',
      bug: 'calls wait for the name server every half minute, and fail with it',
    },
    {
      file: SLOTS,
      find: 'if (waiting.length >= this.#waitingMax) return false;\n',
      put: '',
      bug: 'any number of lookups of one tenant wait in memory',
    },
    {
      file: QUERY,
      find: 'grace === null && (v4 ?? v6)!.records.length > 0',
      put: 'false',
      bug: 'a server without AAAA responses costs the whole lookup',
    },
    {
      file: RESOLV_CONF,
      find: 'dots >= ndots ? [name, ...searched] : [...searched, name]',
      put: '[name]',
      bug: 'short names of a cluster are not found',
    },
  ],
};
