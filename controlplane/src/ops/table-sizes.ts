/**
 * Sizes of the tables for `gateway_table_bytes`, partitions summed up, indexes included. Read in the background, because
 * a scrape must not wait for the database. Without the database the last sizes stay.
 */
import { Gauge, type Registry } from 'prom-client';
import type { Sql } from '../db/postgres-client.js';

export class TableSizes {
  readonly #sql: Sql;
  readonly #gauge: Gauge<'table'>;

  constructor(sql: Sql, registry: Registry) {
    this.#sql = sql;
    this.#gauge = new Gauge({
      name: 'gateway_table_bytes',
      help: 'Size of each table with its indexes; the database has one value, whichever control plane reports it.',
      labelNames: ['table'],
      registers: [registry],
    });
  }

  async update(): Promise<void> {
    const rows = await this.#sql<{ table: string; bytes: number }[]>`
      select regexp_replace(c.relname, '_\\d{8}$', '') as "table", sum(pg_total_relation_size(c.oid))::bigint as bytes
        from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
       group by 1`;
    for (const { table, bytes } of rows) this.#gauge.set({ table }, bytes);
  }
}
