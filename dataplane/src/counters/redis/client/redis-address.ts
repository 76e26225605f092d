/**
 * Parses REDIS_URL: one server, the nodes of a Redis Cluster, or a group watched by Redis Sentinel. Pure.
 *
 *   redis://user:password@host:6379/0                                  rediss:// uses TLS
 *   redis://a:6379,redis://b:6379,redis://c:6379                        several nodes: Redis Cluster
 *   redis+sentinel://user:password@h1:26379,h2/mymaster/0?sentinelPassword=…   rediss+sentinel:// uses TLS for all
 *
 * User and password belong to the data servers; sentinels use sentinelUsername and sentinelPassword.
 */
export interface RedisAddress {
  /** With Sentinel this is one URL whose host is the group's name. */
  readonly urls: readonly URL[];
  /** Null without Sentinel: the URLs are the servers' addresses. */
  readonly sentinel: SentinelGroup | null;
}

export interface SentinelGroup {
  readonly hosts: readonly HostAndPort[];
  /** Group name in the sentinels' configuration, e.g. `mymaster`. */
  readonly name: string;
  readonly username: string | null;
  readonly password: string | null;
}

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const SENTINEL_PORT = 26_379;
const PARAMETERS: readonly string[] = ['sentinelUsername', 'sentinelPassword'];
const SENTINEL_URL = /^(rediss?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([\w.-]+)(?:\/(\d{1,4}))?\/?(?:\?([^#]*))?$/;

/** Returns null when the text cannot be parsed. No error repeats the text, because it may contain passwords. */
export function parseRedisAddress(text: string): RedisAddress | null {
  if (/^\s*rediss?\+sentinel:/.test(text)) return parseSentinelUrl(text.trim());
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const urls = parts.filter((part) => URL.canParse(part)).map((part) => new URL(part));
  const good = urls.length === parts.length && urls.length > 0 && urls.every((url) => /^rediss?:$/.test(url.protocol));
  return good ? { urls, sentinel: null } : null;
}

function parseSentinelUrl(text: string): RedisAddress | null {
  const [, scheme, user, hostList, name, database = '0', query = ''] = SENTINEL_URL.exec(text) ?? [];
  if (scheme === undefined || hostList === undefined || name === undefined) return null;
  const hosts = hostList.split(',').map((part) => parseHost(part.trim()));
  const parameters = new URLSearchParams(query);
  if ([...parameters.keys()].some((key) => !PARAMETERS.includes(key))) return null;
  const server = `${scheme}://${user === undefined ? '' : `${user}@`}${name}/${database}`;
  if (!hosts.every((host) => host !== null) || !URL.canParse(server)) return null;
  return {
    urls: [new URL(server)],
    sentinel: {
      hosts,
      name,
      username: parameters.get('sentinelUsername') || null,
      password: parameters.get('sentinelPassword') || null,
    },
  };
}

function parseHost(text: string): HostAndPort | null {
  if (!URL.canParse(`tcp://${text}`)) return null;
  const { hostname, port, pathname } = new URL(`tcp://${text}`);
  if (hostname === '' || (pathname !== '' && pathname !== '/')) return null;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? SENTINEL_PORT : Number(port) };
}
