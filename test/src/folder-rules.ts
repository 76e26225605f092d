/**
 * Which folder of a plane may import which, types included. A folder stands below all that it imports, so that no two
 * can need each other; the wiring (parts, pipelines and the files at the root) stands at the bottom. A new import that is
 * not listed here fails `tidy`: list it if the folder really should know of the other one.
 */
type FolderRules = Readonly<Record<string, readonly string[]>>;

const dataplane: FolderRules = {
  circuit: [],
  counters: [],
  http1: [],
  process: [],
  scan: [],
  usage: [],
  context: ['counters'],
  policy: ['context', 'scan'],
  upstream: ['context', 'http1'],
  s3: ['context', 'upstream'],
  metering: ['context', 'scan'],
  pricing: ['metering'],
  call: ['circuit', 'context', 'counters', 'http1', 'metering', 'policy', 'pricing', 's3', 'scan', 'upstream'],
  'call/stages': ['call', 'circuit', 'context', 'counters', 'http1', 'policy', 's3', 'upstream'],
  websocket: ['call', 'context', 'upstream'],
  ops: ['call', 'counters', 'metering', 'pricing'],
  pipelines: ['call', 'call/stages', 'circuit', 'counters', 'upstream', 'websocket'],
};

const controlplane: FolderRules = {
  db: [],
  domain: [],
  grpc: [],
  'providers/catalogue': ['domain'],
  http: ['db', 'domain'],
  limits: ['db'],
  events: ['db', 'http'],
  audit: ['db', 'domain', 'http'],
  dashboard: ['http'],
  mail: ['http'],
  reference: ['http'],
  ops: ['db', 'http'],
  watch: ['db', 'grpc', 'ops'],
  circuit: ['db', 'events', 'ops'],
  ledger: ['db', 'grpc'],
  reports: ['db', 'domain', 'http', 'ledger', 'limits'],
  status: ['circuit', 'db', 'http', 'ops'],
  traces: ['ledger', 'ops'],
  conclusions: ['circuit', 'db', 'events', 'ledger'],
  projects: ['audit', 'db', 'domain', 'http', 'limits', 'watch'],
  suspension: ['audit', 'db', 'domain', 'http', 'watch'],
  auth: ['audit', 'db', 'domain', 'http', 'mail', 'ops', 'projects', 'suspension'],
  members: ['audit', 'auth', 'db', 'domain', 'http', 'mail', 'suspension'],
  'event-mail': ['audit', 'auth', 'db', 'domain', 'events', 'http', 'mail'],
  orgs: ['audit', 'auth', 'db', 'domain', 'http', 'limits', 'mail', 'watch'],
  agents: ['audit', 'conclusions', 'db', 'domain', 'events', 'http', 'limits', 'providers/catalogue', 'watch'],
  'api-keys': ['agents', 'audit', 'db', 'domain', 'http', 'watch'],
  'providers/custom': ['audit', 'db', 'domain', 'http', 'providers/catalogue', 'watch'],
  providers: ['audit', 'circuit', 'db', 'domain', 'http', 'providers/catalogue', 'providers/custom'],
  prices: ['http', 'ops', 'providers/catalogue', 'providers/custom'],
  accounts: [
    'agents',
    'audit',
    'db',
    'domain',
    'events',
    'http',
    'ledger',
    'providers',
    'providers/catalogue',
    'providers/custom',
    'watch',
  ],
  attention: ['db', 'http', 'ledger', 'providers', 'providers/catalogue'],
  contexts: ['accounts', 'agents', 'db', 'grpc', 'limits', 'providers', 'providers/catalogue', 'providers/custom'],
  webhooks: ['accounts', 'audit', 'auth', 'db', 'domain', 'events', 'http', 'ops'],
};

/** What all build on. */
const base: FolderRules = {
  egress: [],
  pricing: [],
  names: ['egress'],
  dialer: ['egress', 'names'],
};

/** The command line. */
const cli: FolderRules = {
  terminal: [],
  settings: ['terminal'],
  invocation: ['settings', 'terminal'],
  api: ['invocation', 'terminal'],
  run: ['api', 'invocation', 'settings', 'terminal'],
  apply: ['api', 'terminal'],
  doctor: ['api', 'invocation', 'run', 'terminal'],
  commands: ['api', 'apply', 'doctor', 'invocation', 'run', 'settings', 'terminal'],
};

/** What runs in the browser. */
const dashboard: FolderRules = {
  theme: [],
  format: [],
  api: [],
  parts: ['api', 'format'],
  resources: ['api'],
  entry: ['api', 'parts'],
  screens: [],
  'screens/*': ['api', 'format', 'parts', 'resources', 'screens'],
  shell: ['api', 'parts', 'screens'],
};

/** Folders that put the others of their plane together: they may import any. */
export const WIRING: Readonly<Record<string, readonly string[]>> = {
  controlplane: ['fleet-circuit', 'parts', 'rotate-master-key'],
};

export const FOLDER_RULES: Readonly<Record<string, FolderRules>> = {
  base,
  dataplane,
  controlplane,
  'controlplane/cli': cli,
  'controlplane/dashboard': dashboard,
};

/** The only files at a plane's root. */
export const ROOT_FILES: Readonly<Record<string, readonly string[]>> = {
  base: [
    'audit-actions',
    'backoff',
    'bag',
    'chunk-garbage',
    'client-address',
    'client-network',
    'directory-lock',
    'env-reader',
    'hangup',
    'ignore',
    'invariant',
    'limits',
    'log',
    'secret',
    'units',
    'uuid',
    'uuidv7',
  ],
  dataplane: ['config', 'gateway', 'main', 'server'],
  controlplane: ['config', 'main', 'service'],
  'controlplane/cli': ['main', 'program'],
  'controlplane/dashboard': ['app', 'main'],
};
