/** How the generated tests call a route. Every route under /v1 needs one; see index.ts. */
import type { Member, TestControlPlane } from '../../fixtures/control-plane.js';

type Role = 'viewer' | 'member' | 'admin' | 'owner';
/**
 * No credentials, a member with that role, a management token with that role, or an admin's token of another project.
 */
export type Caller = 'none' | Role | `token: ${Exclude<Role, 'owner'>}` | 'token: other project';

export interface ExampleContext {
  readonly plane: TestControlPlane;
  /** The owner of the organization of the example; creates what the call needs. */
  readonly owner: Member;
  /** The caller; the owner unless the test is about roles. Null: without credentials. */
  readonly caller: Member | null;
}

export interface ExampleCall {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteExample {
  /** Creates through the API what the call needs and returns a call that succeeds. Runs again for each call. */
  prepare(context: ExampleContext): Promise<ExampleCall> | ExampleCall;
  /** Status of success; 200 unless given. */
  readonly success?: number;
  /** Statuses that do not follow from the route's access. */
  readonly statuses?: Partial<Record<Caller, number>>;
  /** Called with a management token of another project: 403 or 404, unless the route shows nothing of the project. */
  readonly otherProject?: 200;
  /** Why a write leaves no audit entry. Without a reason, an entry is required. */
  readonly unaudited?: string;
  /** Errors have the form of RFC 6749: a code in `error`, the text in `error_description`. */
  readonly oauthErrors?: true;
  /** Field → status of a call with a foreign id in it, where that is not 404. */
  readonly foreign?: Readonly<Record<string, number>>;
}

export type Examples = Readonly<Record<string, RouteExample>>;
