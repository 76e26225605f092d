/** Who may call a route. Each route declares it in `config.access`; one that does not stops the start. */

export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];
/** `public`: no session; `session`: any member, whatever the role. */
export type Access = 'public' | 'session' | Role;

export const isRole = (value: string): value is Role => (ROLES as readonly string[]).includes(value);

/** Roles are ordered: each may do all that the one before it may. */
export const atLeast = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** Who does a thing, read from the database at each request (DESIGN §11). */
export interface Actor {
  readonly userId: string;
  readonly email: string;
  readonly orgId: string;
  readonly role: Role;
  /** Client address, through trusted proxies. */
  readonly ip: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    /** Set by auth/authenticate.ts on every route that is not public. */
    actor: Actor;
  }
}
