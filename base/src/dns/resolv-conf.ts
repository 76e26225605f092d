/**
 * Parses resolv.conf: `search`, `domain` and `ndots` decide which fully qualified names a short name is expanded to, as
 * in the system's resolver. For example, `minio.storage` resolves inside a Kubernetes cluster this way.
 */

interface ResolvConf {
  readonly search: readonly string[];
  /** A name with fewer dots is tried with the search domains first. */
  readonly ndots: number;
  /** The name servers, joined by spaces; compared to detect a change. */
  readonly servers: string;
}

const NDOTS_MAX = 15;
const SEARCH_MAX = 16;

/** `hostName` of this machine: its domain is searched when the file names none. */
export function parseResolvConf(text: string, hostName: string): ResolvConf {
  const dot = hostName.indexOf('.');
  let search = dot === -1 ? [] : [hostName.slice(dot + 1)];
  let ndots = 1;
  const servers: string[] = [];
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver' && values[0] !== undefined) servers.push(values[0]);
    else if (keyword === 'search' || keyword === 'domain') search = keyword === 'domain' ? values.slice(0, 1) : values;
    else if (keyword === 'options') {
      for (const option of values) {
        const given = /^ndots:(\d{1,3})$/.exec(option);
        if (given !== null) ndots = Math.min(NDOTS_MAX, Number(given[1]));
      }
    }
  }
  return {
    search: search
      .map((domain) => domain.replace(/\.$/, ''))
      .filter((domain) => domain !== '')
      .slice(0, SEARCH_MAX),
    ndots,
    servers: servers.join(' '),
  };
}

/** The fully qualified names to query, in order. */
export function expandSearchDomains(name: string, { search, ndots }: ResolvConf): string[] {
  const dots = name.split('.').length - 1;
  const searched = search.map((domain) => `${name}.${domain}`);
  return dots >= ndots ? [name, ...searched] : [...searched, name];
}
