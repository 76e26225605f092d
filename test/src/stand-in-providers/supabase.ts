/** Supabase: PostgREST on one table, storage, auth, functions, realtime. Formats as the provider documents them. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import {
  emptyResponse,
  eventStreamResponse,
  jsonResponse,
  type StandInResponse,
} from '@acg/stand-in-provider/stand-in-response';
import { PROVIDER_CREDENTIALS } from './provider-credentials.js';
import { SupabaseRealtime } from './supabase-realtime.js';

const JWT_HEAD = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9';

/** The session token of the signed-in user: not a project key; it must pass the gateway unchanged. */
export const USER_JWT = `${JWT_HEAD}.${Buffer.from('{"sub":"user-1","exp":4102444800}').toString('base64url')}.c2ln`;

const USER = {
  id: '11111111-1111-4111-8111-111111111111',
  aud: 'authenticated',
  role: 'authenticated',
  email: 'user@example.com',
  app_metadata: {},
  user_metadata: {},
  created_at: '2026-01-01T00:00:00Z',
};

interface Todo {
  id: number;
  task: string;
  done: boolean;
}

/** A secret key in the older JWT format. Clients repeat it as the access token in Realtime messages. */
export const SERVICE_JWT = `${JWT_HEAD}.${Buffer.from('{"role":"service_role","exp":4102444800}').toString('base64url')}.c2VydmljZS1zaWduYXR1cmU`;

export class SupabaseStandIn extends StandInProvider {
  readonly realtime: SupabaseRealtime;
  readonly #key: string;
  #todos: Todo[] = [];
  readonly #objects = new Map<string, { readonly bytes: Buffer; readonly type: string }>();

  /** `key`: the project's secret key, the only accepted one. */
  constructor(key: string = PROVIDER_CREDENTIALS.supabase) {
    super();
    this.#key = key;
    this.realtime = new SupabaseRealtime(key, USER_JWT);
    this.reset();
  }

  /** Resets to three rows and no objects. */
  reset(): void {
    this.#todos = [1, 2, 3].map((id) => ({ id, task: `task ${id}`, done: false }));
    this.#objects.clear();
  }

  protected override respond(request: ReceivedRequest): StandInResponse {
    const { apikey, authorization } = request.headers;
    if (apikey !== this.#key)
      return jsonResponse(401, { message: 'Invalid API key', hint: 'Double check your API key.' });
    if (authorization !== `Bearer ${this.#key}` && authorization !== `Bearer ${USER_JWT}`) {
      return jsonResponse(401, { code: 'PGRST301', message: 'JWT could not be decoded', details: null, hint: null });
    }
    if (request.path === '/rest/v1/todos') return this.#rest(request);
    if (request.path.startsWith('/storage/v1/object/')) return this.#storage(request);
    switch (`${request.method} ${request.path}`) {
      case 'POST /rest/v1/rpc/add': {
        const { a, b } = JSON.parse(request.body.toString('utf8')) as { a: number; b: number };
        return jsonResponse(200, a + b);
      }
      case 'POST /functions/v1/hello':
        return jsonResponse(200, { echo: JSON.parse(request.body.toString('utf8')) as unknown });
      case 'POST /functions/v1/stream':
        return eventStreamResponse(['data: one\n\n', 'data: two\n\n']);
      case 'POST /auth/v1/token':
        return jsonResponse(200, {
          access_token: USER_JWT,
          token_type: 'bearer',
          expires_in: 3600,
          refresh_token: 'r',
          user: USER,
        });
      case 'GET /auth/v1/user':
        return authorization === `Bearer ${USER_JWT}`
          ? jsonResponse(200, USER)
          : jsonResponse(403, { code: 403, msg: 'bad_jwt' });
      default:
        return jsonResponse(404, { code: 'PGRST205', message: `no ${request.path}`, details: null, hint: null });
    }
  }

  protected override upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.realtime.upgrade(request, socket, head);
  }

  #rest(request: ReceivedRequest): StandInResponse {
    const filter = new URLSearchParams(request.query).get('id');
    const wanted = filter === null ? null : Number(filter.replace('eq.', ''));
    const rows = this.#todos.filter((todo) => wanted === null || todo.id === wanted);
    const prefer = request.headers.prefer ?? '';
    switch (request.method) {
      case 'HEAD':
      case 'GET': {
        const total = prefer.includes('count=exact') ? String(rows.length) : '*';
        const range = [['content-range', rows.length === 0 ? `*/${total}` : `0-${rows.length - 1}/${total}`]] as const;
        if (request.headers.accept?.includes('vnd.pgrst.object')) return jsonResponse(200, rows[0], range);
        return jsonResponse(200, rows, range);
      }
      case 'POST':
        return this.#insert(JSON.parse(request.body.toString('utf8')) as Partial<Todo>, prefer);
      case 'PATCH':
        for (const row of rows) Object.assign(row, JSON.parse(request.body.toString('utf8')));
        return emptyResponse(204, [['content-range', '*/*']]);
      case 'DELETE':
        this.#todos = this.#todos.filter((todo) => !rows.includes(todo));
        return emptyResponse(204, [['content-range', '*/*']]);
      default:
        return emptyResponse(405);
    }
  }

  #insert(given: Partial<Todo>, prefer: string): StandInResponse {
    const row = { id: this.#todos.length + 1, task: '', done: false, ...given };
    this.#todos = [...this.#todos.filter(({ id }) => id !== row.id), row];
    return prefer.includes('return=representation')
      ? jsonResponse(201, [row])
      : emptyResponse(201, [['content-length', '0']]);
  }

  #storage(request: ReceivedRequest): StandInResponse {
    const key = request.path.slice('/storage/v1/object/'.length);
    if (request.method === 'POST' && key.startsWith('list/')) {
      return jsonResponse(
        200,
        [...this.#objects.keys()].map((name) => ({ name: decodeURIComponent(name), id: null })),
      );
    }
    if (request.method === 'POST') {
      const type = request.headers['content-type'] ?? 'application/octet-stream';
      this.#objects.set(key, { bytes: request.body, type });
      return jsonResponse(200, { Key: decodeURIComponent(key), Id: '22222222-2222-4222-8222-222222222222' });
    }
    const object = this.#objects.get(key);
    if (object === undefined)
      return jsonResponse(400, { statusCode: '404', error: 'not_found', message: 'Object not found' });
    return { status: 200, headers: [['content-type', object.type]], body: object.bytes };
  }
}
