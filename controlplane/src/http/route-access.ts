/** Access rules of routes. Each route declares them in `config.access`; a route without them fails the start. */

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];
/** `public`: no authentication; `session`: any member, whatever the role. */
export type Access = 'public' | 'session' | Role;

/** Roles are ordered: each includes the rights of the previous one. */
export const isRoleAtLeast = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** The role and all higher ones. */
export const rolesAtOrAbove = (role: Role): readonly Role[] => ROLES.slice(ROLES.indexOf(role));

export const lowerRole = (a: Role, b: Role): Role => (isRoleAtLeast(a, b) ? b : a);

/** The session of a request. */
interface ActorSession {
  readonly id: string;
  readonly kind: 'api' | 'browser' | 'cli';
  /**
   * Set for a session that was approved for a device: at most this role, and only in this organization. Null: all
   * rights of the user.
   */
  readonly roleMax: Role | null;
  /** True if the password was entered in this session within the last 15 minutes. */
  readonly recent: boolean;
  /** Opened by single sign-on, or approved in a session that it opened. */
  readonly sso: boolean;
}

/** The management token of a request. */
export interface ActorToken {
  readonly id: string;
  readonly name: string;
  /** Only objects of this project; null: of the whole organization. */
  readonly projectId: string | null;
}

export type ProjectIdKind = 'project' | 'agent' | 'agents' | 'key' | 'run' | 'trust rule' | 'account' | 'credential';
type ProjectIds = Readonly<Record<string, ProjectIdKind>>;

/**
 * How a project's management token may use a route: which of the route's fields hold ids that must belong to the
 * project. Without fields: the route returns no tenant data.
 */
export interface ProjectScope {
  readonly params?: ProjectIds;
  readonly query?: ProjectIds;
  /** At least one of these fields must be set. */
  readonly body?: ProjectIds;
  /**
   * Query field that is set to the token's project if the request gives no id, so that a list returns only its rows.
   */
  readonly listBy?: string;
}

/** The authenticated caller, read from the database for each request. */
export interface Actor {
  /** With a management token: the user who created it. */
  readonly userId: string;
  readonly email: string;
  readonly orgId: string;
  readonly role: Role;
  /** Client IP address, resolved through trusted proxies. */
  readonly ip: string;
  /** Null: a token issued before sessions were stored. */
  readonly session: ActorSession | null;
  /** Null: the caller is a person. */
  readonly token: ActorToken | null;
}

interface Tenant {
  readonly orgId: string;
  /** Id of the user or of the token. */
  readonly callerId: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** Concerns the whole user account: rejects a session that is bound to one organization. */
    account?: true;
    /** Allowed in an organization that is being deleted, like every route with access `session`. */
    whileDeleted?: true;
    /** Rejects management tokens. Routes with access `session` reject them, too. */
    tokens?: false;
    /** Missing: rejects management tokens of a project. */
    project?: ProjectScope;
    /** The feature limits these writes itself, instead of http/write-rate-limit.ts. */
    ownWriteLimit?: true;
    /** A missing body means `{}`. */
    bodyOptional?: true;
  }
  interface FastifyRequest {
    /** Whose limits the request uses up. Null: a public route. */
    tenant: Tenant | null;
    /** Set by auth/authenticator.ts on every route that is not public. */
    actor: Actor;
    /** The request waited for its body or for a slot since `actor` was read, so a write reads it again. */
    actorStale: boolean;
  }
}
