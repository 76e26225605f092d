/**
 * Lists which folder of a plane may import which, types included. A folder may import only folders above it in the
 * list, so cycles are impossible. Composition folders (composition, pipelines and the files at the root) come last. A
 * new import that is missing here fails repository-rules.test.ts; list it if the dependency is intended.
 */
type FolderRules = Readonly<Record<string, readonly string[]>>;

const dataplane: FolderRules = {
  'breaker': [],
  'counters/redis/script': [],
  'http1': [],
  'limits': [],
  'listener': [],
  'process': [],
  'scan': [],
  'scan/media': [],
  'upstream/masking': [],
  'usage/spool': [],
  'context': ['limits'],
  'counters/memory': ['limits'],
  'counters/redis/client': ['counters/redis/script'],
  'policy/body': ['scan'],
  'upstream/connections': ['http1'],
  'usage': ['usage/spool'],
  'counters/redis': ['counters/redis/client', 'limits'],
  'metering/reading': ['context', 'scan'],
  'policy': ['context'],
  'policy/reservation': ['policy/body', 'scan', 'scan/media'],
  'upstream/credentials': ['context'],
  'counters': ['counters/memory', 'counters/redis', 'counters/redis/client', 'limits'],
  'metering/bodies': ['metering/reading', 'scan'],
  'metering/providers': ['metering/reading', 'scan'],
  'metering/stream-usage': ['metering/reading', 'scan'],
  'pricing': ['metering/reading'],
  'rejection': ['limits', 'policy', 'policy/body'],
  's3': ['context', 'upstream/credentials'],
  'upstream': ['context', 'upstream/credentials', 'upstream/masking'],
  'concurrency': ['listener', 'rejection'],
  'metering': ['metering/bodies', 'metering/providers', 'metering/reading'],
  'call': ['breaker', 'concurrency', 'context', 'http1', 'limits', 'listener', 'metering', 'metering/reading', 'metering/stream-usage', 'policy', 'policy/body', 'pricing', 'rejection', 's3', 'scan', 'upstream', 'upstream/connections', 'upstream/credentials', 'upstream/masking'],
  'ops': ['call', 'limits', 'metering/reading', 'pricing', 'rejection'],
  'response': ['call', 'context', 'limits', 'rejection', 'upstream', 'upstream/masking'],
  'reservation': ['call', 'http1', 'limits', 'metering/reading', 'policy', 'policy/body', 'policy/reservation', 'pricing', 'rejection', 'response'],
  'websocket': ['call', 'concurrency', 'listener', 'rejection', 'response', 'upstream', 'upstream/connections', 'upstream/credentials', 'upstream/masking'],
  'call/stages': ['breaker', 'call', 'concurrency', 'context', 'http1', 'limits', 'listener', 'policy', 'policy/body', 'rejection', 'reservation', 'response', 's3', 'upstream', 'upstream/connections', 'upstream/credentials'],
  'pipelines': ['breaker', 'call', 'call/stages', 'concurrency', 'limits', 'response', 'upstream/connections', 'websocket'],
};

const controlplane: FolderRules = {
  'db': [],
  'domain': [],
  'grpc': [],
  'concurrency': ['domain'],
  'ledger': ['db', 'grpc'],
  'limits': ['db'],
  'providers/catalogue': ['domain'],
  'throttling': ['db', 'domain'],
  'vault': ['db'],
  'http': ['concurrency', 'db', 'domain'],
  'audit': ['db', 'domain', 'http'],
  'dashboard': ['http'],
  'events': ['db', 'http'],
  'idempotency': ['concurrency', 'db', 'domain', 'http'],
  'mail': ['http'],
  'ops': ['db', 'http'],
  'reference': ['http'],
  'reports/log-record': ['http'],
  'reports/query': ['db', 'domain', 'http'],
  'auth/management-tokens': ['audit', 'db', 'domain', 'http'],
  'breaker': ['db', 'events', 'ops'],
  'event-mail': ['audit', 'db', 'domain', 'events', 'http', 'mail', 'throttling'],
  'reports/aggregates': ['db', 'domain', 'http', 'ledger', 'limits', 'reports/log-record', 'reports/query'],
  'traces': ['ledger', 'ops'],
  'watch': ['db', 'grpc', 'ops'],
  'webhooks': ['audit', 'db', 'domain', 'events', 'http', 'ops', 'throttling', 'vault'],
  'detectors': ['breaker', 'db', 'events', 'ledger'],
  'projects': ['audit', 'db', 'domain', 'http', 'limits', 'watch'],
  'providers/custom': ['audit', 'db', 'domain', 'http', 'providers/catalogue', 'watch'],
  'reports/calls': ['db', 'domain', 'http', 'ledger', 'reports/aggregates', 'reports/log-record', 'reports/query'],
  'status': ['breaker', 'db', 'http', 'ops'],
  'suspension': ['audit', 'db', 'domain', 'http', 'watch'],
  'agents': ['audit', 'db', 'detectors', 'domain', 'events', 'http', 'limits', 'providers/catalogue', 'watch'],
  'auth/users': ['audit', 'db', 'domain', 'http', 'projects'],
  'prices': ['http', 'ops', 'providers/catalogue', 'providers/custom'],
  'providers': ['audit', 'breaker', 'db', 'domain', 'http', 'providers/catalogue', 'providers/custom'],
  'reports/export': ['db', 'reports/calls', 'reports/log-record', 'reports/query'],
  'api-keys': ['agents', 'audit', 'db', 'domain', 'http', 'watch'],
  'attention': ['db', 'http', 'ledger', 'providers', 'providers/catalogue'],
  'auth/passwords': ['audit', 'auth/users', 'concurrency', 'db', 'domain', 'ops', 'throttling'],
  'auth/sessions': ['audit', 'auth/users', 'db', 'domain', 'http'],
  'provider-accounts': ['agents', 'audit', 'concurrency', 'db', 'domain', 'events', 'http', 'ledger', 'providers', 'providers/catalogue', 'providers/custom', 'vault', 'watch'],
  'reports/routes': ['domain', 'http', 'ledger', 'reports/aggregates', 'reports/calls', 'reports/export', 'reports/log-record', 'reports/query'],
  'auth/recovery': ['audit', 'auth/management-tokens', 'auth/passwords', 'auth/sessions', 'auth/users', 'db', 'domain', 'http', 'mail', 'ops', 'suspension', 'throttling'],
  'contexts': ['agents', 'db', 'grpc', 'limits', 'provider-accounts', 'providers', 'providers/catalogue', 'providers/custom', 'vault'],
  'auth': ['audit', 'auth/management-tokens', 'auth/passwords', 'auth/recovery', 'auth/sessions', 'auth/users', 'db', 'domain', 'http', 'suspension', 'throttling'],
  'auth/device-login': ['audit', 'auth', 'auth/sessions', 'auth/users', 'db', 'domain', 'http', 'mail', 'throttling'],
  'members': ['audit', 'auth', 'auth/passwords', 'auth/sessions', 'auth/users', 'db', 'domain', 'http', 'mail', 'suspension', 'throttling'],
  'orgs': ['audit', 'auth', 'auth/sessions', 'auth/users', 'db', 'domain', 'http', 'limits', 'mail', 'watch'],
};

/** What all build on. */
const base: FolderRules = {
  'egress': [],
  'pricing': [],
  'dns': ['egress'],
  'dialer': ['dns', 'egress'],
};

/** The command line. */
const cli: FolderRules = {
  'terminal': [],
  'settings': ['terminal'],
  'invocation': ['settings', 'terminal'],
  'api': ['invocation', 'terminal'],
  'apply': ['api', 'terminal'],
  'options': ['api', 'invocation', 'terminal'],
  'run': ['api', 'invocation', 'terminal'],
  'commands/reports': ['api', 'invocation', 'options', 'terminal'],
  'commands/resources': ['api', 'invocation', 'options', 'terminal'],
  'commands/run': ['api', 'invocation', 'options', 'run', 'settings', 'terminal'],
  'commands/session': ['api', 'invocation', 'options', 'settings', 'terminal'],
  'doctor': ['api', 'invocation', 'run', 'terminal'],
  'commands': ['api', 'apply', 'commands/reports', 'commands/resources', 'commands/run', 'commands/session', 'doctor', 'invocation', 'options', 'terminal'],
};

/** What runs in the browser. */
const dashboard: FolderRules = {
  'api': [],
  'components/focus': [],
  'components/layout': [],
  'format': [],
  'hooks': [],
  'messages': [],
  'screens': [],
  'theme': [],
  'components/buttons': ['api'],
  'components/feedback': ['api', 'format'],
  'resources': ['api', 'messages'],
  'components/charts': ['components/feedback', 'components/layout', 'format'],
  'components/forms': ['api', 'components/feedback', 'components/focus'],
  'components/secrets': ['api', 'components/buttons', 'components/focus'],
  'components/tables': ['components/buttons', 'components/feedback', 'components/focus', 'format'],
  'components/agents': ['api', 'components/charts', 'components/feedback', 'components/focus', 'components/forms', 'components/tables', 'format'],
  'shell': ['api', 'components/buttons', 'components/feedback', 'components/forms', 'components/layout', 'resources', 'screens'],
  'sign-in': ['api', 'components/forms', 'components/layout'],
  'screens/*': ['api', 'components/agents', 'components/buttons', 'components/charts', 'components/feedback', 'components/focus', 'components/forms', 'components/layout', 'components/secrets', 'components/tables', 'format', 'hooks', 'messages', 'resources', 'screens'],
};

/** Composition folders of a plane; they may import any folder. */
export const COMPOSITION_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  controlplane: ['composition', 'fleet-circuit', 'rotate-master-key'],
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
  base: ['audit-actions', 'backoff', 'client-address', 'client-network', 'directory-lock', 'env-reader', 'invariant', 'limits', 'log', 'minor-gc-pacer', 'noop', 'secret', 'sighup', 'swap-remove-set', 'units', 'uuid', 'uuidv7'],
  dataplane: ['config', 'gateway', 'main', 'proxy-server'],
  controlplane: ['config', 'control-plane', 'main'],
  'controlplane/cli': ['main', 'program'],
  'controlplane/dashboard': ['app', 'main'],
};
