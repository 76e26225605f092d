/**
 * Every route as it was declared: who may call it, with what, for what. The matrices of access and tenancy, and the
 * checks that no route lacks a schema or an audit entry, are generated from it, so a new route cannot be forgotten.
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { Access, ProjectScope } from './route-access.js';

export interface RouteEntry {
  readonly method: string;
  /** The pattern, e.g. `/v1/projects/:id`. */
  readonly url: string;
  readonly access: Access;
  /** False: not for management tokens. */
  readonly tokens: boolean;
  /** Undefined: closed to management tokens of one project. */
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

/** Refuses a /v1 route that does not say who may call it. */
export function recordRoutes(app: FastifyInstance): void {
  const table: RouteEntry[] = [];
  app.decorate('routeTable', table);
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1/')) return;
    const methods = Array.isArray(route.method) ? route.method : [route.method];
    const { access, tokens = true, project, bodyOptional = false } = route.config ?? {};
    if (access === undefined) throw new Error(`${methods.join()} ${route.url} declares no access`);
    for (const method of methods) {
      // Fastify adds HEAD beside each GET; it is the same route.
      if (method === 'HEAD') continue;
      table.push({ method, url: route.url, access, tokens, project, bodyOptional, schema: route.schema });
    }
  });
}
