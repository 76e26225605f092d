/**
 * Loaded ahead of a data plane (`--import …/own-name-server.js?127.0.0.1:5353`): tenants' names are asked of that server,
 * which the process has no setting for.
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
