/**
 * Reads DATABASE_URL: one host, or several with a port each, as libpq writes them. With several hosts only
 * `target_session_attrs=primary` finds the primary after a failover (docs/operations.md#several-postgres-hosts).
 */
import type { EnvReader } from '@acg/base/env-reader';
import { Secret } from '@acg/base/secret';

const NAME = 'DATABASE_URL';
const WITH_HOSTS = /^(?<before>postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?<hosts>[^@/?]+)(?<after>.*)$/;
const HOST_AND_PORT = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;
const TARGET = 'target_session_attrs';

/** Reports an unusable value to `read`. `hint` says which database is meant. */
export function readDatabaseUrl(read: EnvReader, hint: string): Secret {
  const text = read.required(NAME, hint);
  if (text === '') return new Secret(text);
  const url = parseDatabaseUrl(text);
  if (url === null) {
    read.addProblem(
      `${NAME} must be a URL that starts with postgres:// or postgresql://, with one host or several: ` +
        `postgres://user:password@host1:5432,host2:5432/database?${TARGET}=primary`,
    );
    return new Secret(text);
  }
  const target = url.first.searchParams.get(TARGET);
  if (target !== null && target !== 'primary') {
    // The client reads `default_transaction_read_only` only, which is off on a hot standby, too.
    read.addProblem(`${NAME} must not have ${TARGET}=${target}: it can lead to a standby. Use ${TARGET}=primary`);
  }
  if (url.hosts.length > 1 && target === null) {
    read.warn(
      `${NAME} names several hosts without ${TARGET}=primary: a standby among them fails every write (docs/operations.md#several-postgres-hosts)`,
    );
  }
  return new Secret(text);
}

/** `host:port[,host:port…]/database`, without user and password. */
export function describeDatabaseAddress(databaseUrl: Secret): string {
  const url = parseDatabaseUrl(databaseUrl.reveal());
  if (url === null) return 'DATABASE_URL';
  return `${url.hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:5432`)).join(',')}${url.first.pathname}`;
}

/** `first`: the URL with its first host only, because the URL syntax has no list of hosts. */
function parseDatabaseUrl(text: string): { readonly hosts: readonly string[]; readonly first: URL } | null {
  const { before, hosts: list, after } = WITH_HOSTS.exec(text)?.groups ?? {};
  if (before === undefined || list === undefined || after === undefined) return null;
  const hosts = list.split(',');
  if (hosts.length > 1 && !hosts.every((host) => HOST_AND_PORT.test(host))) return null;
  const first = `${before}${hosts[0]}${after}`;
  return URL.canParse(first) ? { hosts, first: new URL(first) } : null;
}
