/**
 * Sends the audit trails and the rejected calls of all organizations to a syslog server, in order and at least once. A cursor
 * in Postgres says up to where; one control plane sends at a time, and another goes on when it is gone.
 */
import type { Sql, Tx } from '../db/postgres-client.js';
import { type SyslogMessage, type SyslogServer, sendToSyslog } from './syslog-connection.js';

const ROWS_PER_TURN = 500;
/**
 * A row gets its time when its transaction begins and can be read after the commit. Idle transactions and statements end
 * after 60 s, so no older row appears later.
 */
const SETTLED_AFTER_S = 90;

interface StreamRow {
  readonly id: string;
  /** Microseconds, which a Date would lose, as would a parameter that postgres.js knows to be a timestamp. */
  readonly atText: string;
  readonly at: Date;
  readonly body: Record<string, unknown>;
}

/** What is sent as one MSGID. */
interface SyslogStream {
  /** Name of the cursor's row. */
  readonly cursor: string;
  readonly readRows: ReadRows;
}

type ReadRows = (
  tx: Tx,
  after: { readonly at: string; readonly id: string },
  settledAfterS: number,
) => Promise<StreamRow[]>;

/** The columns of each stream, which are its documented fields (docs/operations.md#audit-and-rejections-to-syslog). */
const STREAMS: Readonly<Record<string, SyslogStream>> = {
  audit: {
    cursor: 'audit',
    readRows: (tx, { at, id }, settledAfterS) => tx<StreamRow[]>`
    select id, at::text as "atText", at,
           json_build_object('id', id, 'orgId', org_id, 'at', at, 'action', action, 'actorUserId', actor_user_id,
             'actorEmail', actor_email, 'actorTokenId', actor_token_id, 'actorTokenName', actor_token_name,
             'targetType', target_type, 'targetId', target_id, 'ip', ip, 'changes', changes) as body
      from audit_entries
     where at >= ${at}::text::timestamptz and (at, id) > (${at}::text::timestamptz, ${id}::uuid)
       and at <= now() - make_interval(secs => ${settledAfterS})
     order by at, id limit ${ROWS_PER_TURN}`,
  },
  // By the time at which a row was stored: after an outage rows of earlier calls appear later.
  rejection: {
    cursor: 'rejection_booked',
    readRows: (tx, { at, id }, settledAfterS) => tx<StreamRow[]>`
    select id, coalesce(booked_at, rejected_at)::text as "atText", rejected_at as at,
           json_build_object('requestId', id, 'orgId', org_id, 'at', rejected_at, 'agentId', agent_id, 'keyId', key_id,
             'provider', provider_slug, 'reason', reason, 'status', status, 'method', method, 'path', path,
             'model', model, 'tool', tool, 'clientNetwork', client_network) as body
      from rejected_calls
     where coalesce(booked_at, rejected_at) >= ${at}::text::timestamptz
       and (coalesce(booked_at, rejected_at), id) > (${at}::text::timestamptz, ${id}::uuid)
       and coalesce(booked_at, rejected_at) <= now() - make_interval(secs => ${settledAfterS})
     order by coalesce(booked_at, rejected_at), id limit ${ROWS_PER_TURN}`,
  },
};

export class SyslogStreams {
  constructor(
    readonly sql: Sql,
    readonly server: SyslogServer,
    readonly settledAfterS = SETTLED_AFTER_S,
  ) {}

  /** Sends everything that has settled. Returns how many rows. Rejects when the server cannot be reached. */
  async sendAll(): Promise<number> {
    let sent = 0;
    for (const [kind, stream] of Object.entries(STREAMS)) {
      for (let rows = ROWS_PER_TURN; rows === ROWS_PER_TURN; sent += rows) rows = await this.#sendTurn(kind, stream);
    }
    return sent;
  }

  /** The row's lock keeps other control planes from sending the same rows. */
  async #sendTurn(kind: string, { cursor: name, readRows }: SyslogStream): Promise<number> {
    // A new stream begins with the present.
    await this.sql`
      insert into syslog_cursors (stream, at, id) values (${name}, now(), '00000000-0000-0000-0000-000000000000')
      on conflict (stream) do nothing`;
    return await this.sql.begin(async (tx) => {
      const [cursor] = await tx<{ at: string; id: string }[]>`
        select at::text as at, id from syslog_cursors where stream = ${name} for update skip locked`;
      if (cursor === undefined) return 0;
      const rows = await readRows(tx, cursor, this.settledAfterS);
      const last = rows.at(-1);
      if (last === undefined) return 0;
      await sendToSyslog(
        this.server,
        rows.map(({ at, body }): SyslogMessage => ({ at, kind, text: JSON.stringify(body) })),
      );
      await tx`update syslog_cursors set at = ${last.atText}::text::timestamptz, id = ${last.id} where stream = ${name}`;
      return rows.length;
    });
  }
}
