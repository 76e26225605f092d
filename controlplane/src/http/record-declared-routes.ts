/**
 * All declared routes with their access rules and schemas. The access and tenancy tests, and the checks for missing
 * schemas and audit entries, are generated from this table, so no new route can escape them.
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { Access, ProjectScope } from './route-access.js';

export interface RouteEntry {
  readonly method: string;
  /** The pattern, e.g. `/v1/projects/:id`. */
  readonly url: string;
  readonly access: Access;
  /** False: rejects management tokens. */
  readonly tokens: boolean;
  /** Undefined: rejects management tokens of a project. */
  readonly project: ProjectScope | undefined;
  readonly bodyOptional: boolean;
  readonly schema: RouteOptions['schema'];
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Routes under /v1, in the order of their declaration. */
    readonly routeTable: readonly RouteEntry[];
  }
}

/** Throws at start for a /v1 route that declares no access, or no operation for the API document. */
export function recordRoutes(app: FastifyInstance): void {
  const table: RouteEntry[] = [];
  app.decorate('routeTable', table);
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1/')) return;
    const methods = Array.isArray(route.method) ? route.method : [route.method];
    const { access, tokens = true, project, bodyOptional = false } = route.config ?? {};
    if (access === undefined) throw new Error(`${methods.join()} ${route.url} declares no access`);
    if (route.schema?.operationId === undefined && route.schema?.hide !== true)
      throw new Error(`${methods.join()} ${route.url} declares no operation in its schema`);
    for (const method of methods) {
      // Fastify adds HEAD to each GET; it is the same route.
      if (method === 'HEAD') continue;
      table.push({ method, url: route.url, access, tokens, project, bodyOptional, schema: route.schema });
    }
  });
}
