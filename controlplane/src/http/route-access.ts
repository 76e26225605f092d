/** Who may call a route. Each route declares it in `config.access`; one that does not stops the start. */

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];
/** `public`: no session; `session`: any member, whatever the role. */
export type Access = 'public' | 'session' | Role;

/** Roles are ordered: each may do all that the one before it may. */
export const isRoleAtLeast = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** The role and all above it. */
export const rolesAtOrAbove = (role: Role): readonly Role[] => ROLES.slice(ROLES.indexOf(role));

export const lowerRole = (a: Role, b: Role): Role => (isRoleAtLeast(a, b) ? b : a);

/** The session that a request was made in. */
interface ActorSession {
  readonly id: string;
  readonly kind: 'api' | 'browser' | 'cli';
  /** Approved for a device: no more than this role, in this organization alone. Null: all that the user may. */
  readonly roleMax: Role | null;
  /** The password was given in it within the last 15 minutes. */
  readonly recent: boolean;
}

/** The management token that a request was made with. */
interface ActorToken {
  readonly id: string;
  readonly name: string;
  /** Only rows of this project; null: of the whole organization. */
  readonly projectId: string | null;
}

export type ProjectIdKind = 'project' | 'agent' | 'agents' | 'key' | 'account' | 'credential';
type ProjectIds = Readonly<Record<string, ProjectIdKind>>;

/** How a token of one project may use a route: of what the ids in its fields are. None: it shows nothing of tenants. */
export interface ProjectScope {
  readonly params?: ProjectIds;
  readonly query?: ProjectIds;
  /** At least one of them must be given. */
  readonly body?: ProjectIds;
  /** The query field that is set to the project where no id is given, so that a list shows its rows only. */
  readonly listBy?: string;
}

/** Who does a thing, read from the database at each request. */
export interface Actor {
  /** With a management token: its creator. */
  readonly userId: string;
  readonly email: string;
  readonly orgId: string;
  readonly role: Role;
  /** Client address, through trusted proxies. */
  readonly ip: string;
  /** Null: by a token from before sessions were rows. */
  readonly session: ActorSession | null;
  /** Null: a person. */
  readonly token: ActorToken | null;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** Concerns the user's account as a whole: a session that is bound to one organization is refused. */
    account?: true;
    /** Also in an organization that is being deleted, as every route whose access is `session`. */
    whileDeleted?: true;
    /** Not for management tokens. Routes whose access is `session` are not either. */
    tokens?: false;
    /** Absent: closed to management tokens of one project. */
    project?: ProjectScope;
    /** No body is the same as `{}`. */
    bodyOptional?: true;
  }
  interface FastifyRequest {
    /** Set by auth/authenticate.ts on every route that is not public. */
    actor: Actor;
    /** The request waited for its body or for a place since `actor` was read: a write reads it again. */
    actorStale: boolean;
  }
}
