/**
 * Loaded before a data plane (`--import …/name-server-override.js?127.0.0.1:5353`): sends lookups of tenants' names to
 * that server, for which the process has no setting.
 */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const server = new URL(import.meta.url).search.slice(1);

dns.Resolver = class extends dns.Resolver {
  constructor(options?: dns.ResolverOptions) {
    super(options);
    this.setServers([server]);
  }
};
syncBuiltinESMExports();
