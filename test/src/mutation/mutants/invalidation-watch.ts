import type { Area } from '../mutant.js';

export const WATCH: Area = {
  name: 'watch',
  tests: [
    'controlplane/src/watch/watch-stream.test.ts',
    'test/src/plane-link/watch-hub.test.ts',
    'test/src/plane-link/watch-stream.test.ts',
    'test/src/plane-link/lost-revisions.test.ts',
    'test/src/plane-link/data-plane-registrations.test.ts',
    'test/src/plane-link/change-propagation.test.ts',
  ],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/watch/invalidation-feed.ts',
      find: `    if (revision > upTo) return null; // the database was restored from an older state
`,
      put: '',
      bug: 'after a restore data planes keep their cache',
      equivalent: 'the statement below then finds no row with that revision and returns the same',
    },
    {
      file: 'controlplane/src/watch/invalidation-feed.ts',
      find: 'if (rows[0]?.revision !== revision || rows.length > REPLAY_ROWS_MAX + 1) return null;',
      put: 'if (rows.length > REPLAY_ROWS_MAX + 1) return null;',
      bug: 'pruned invalidations are not detected',
    },
    {
      file: 'controlplane/src/watch/invalidation-feed.ts',
      find: 'rows[0].mark === mark ? rows.slice(1) : null;',
      put: 'rows[0].mark === mark ? rows.slice(2) : null;',
      bug: 'the first missed invalidation is not replayed',
    },
    {
      file: 'controlplane/src/watch/invalidation-feed.ts',
      find: 'this.#listener.onRows(rows.slice(known));',
      put: 'this.#listener.onRows(rows.slice(known + 1));',
      bug: 'the first new invalidation is not sent',
    },
    {
      file: 'controlplane/src/watch/invalidation-feed.ts',
      find: `       and revision < (select max(revision) - \${RETAINED_ROWS_MIN} from invalidations)\`;`,
      put: '`;',
      bug: 'pruning deletes the newest revision, too',
    },
    {
      file: 'controlplane/src/watch/invalidation-feed.ts',
      find: '(rows[0]?.revision !== this.lastRevision || rows[0].mark !== this.lastMark)',
      put: 'rows[0]?.revision !== this.lastRevision',
      bug: 'a lost and reissued revision counts as the one that was read',
    },
    {
      file: 'controlplane/src/watch/invalidation-feed.ts',
      find: "mark === '' || rows[0].mark === mark ?",
      put: 'true ?',
      bug: 'a data plane whose last revision was lost and issued again keeps its cache',
    },
    {
      file: 'controlplane/src/watch/watch-hub.ts',
      find: `    for (const watcher of [...this.#watchers]) this.#endWatcher(watcher, 'history_lost');
`,
      put: '',
      bug: 'after a lossy failover data planes keep their cache',
    },
    {
      file: 'controlplane/src/watch/publish-invalidations.ts',
      find: 'ends_sessions: c.endsSessions ?? false',
      put: 'ends_sessions: false',
      bug: 'a revocation ends no session',
    },
    {
      file: 'controlplane/src/watch/publish-invalidations.ts',
      find: `  await tx\`select pg_notify(\${INVALIDATION_CHANNEL}, \${String(written.at(-1)!.revision)})\`;
`,
      put: `  void written;
`,
      bug: 'data planes get a change only with the next poll',
      equivalent: 'the feed polls twice per second: only slower, which a test without a clock cannot detect',
    },
    {
      file: 'controlplane/src/watch/data-plane-registrations.ts',
      find: `    if (plane.counters === 'memory') {`,
      put: `    if (plane.counters !== 'memory') {`,
      bug: 'a data plane with in-process counters joins beside another',
    },
    {
      file: 'controlplane/src/watch/data-plane-registrations.ts',
      find: 'where id <> ${plane.id} limit 1',
      put: `where id <> \${plane.id} and counters = 'memory' limit 1`,
      bug: 'a data plane with in-process counters joins beside one with Redis',
    },
    {
      file: 'controlplane/src/watch/data-plane-registrations.ts',
      find: `    await tx\`delete from data_planes where seen_at < now() - \${REGISTRATION_TTL_MS} * interval '1 millisecond'\`;`,
      put: `    void REGISTRATION_TTL_MS;`,
      bug: 'a dead data plane blocks others for ever',
    },
    {
      file: 'controlplane/src/watch/data-plane-registrations.ts',
      find: 'delete from data_planes where connection_id = ${connectionId}',
      put: `delete from data_planes where id = (select id from data_planes where connection_id = \${connectionId}) or \${connectionId} <> ''`,
      bug: 'a disconnecting data plane unregisters all',
    },
    {
      file: 'controlplane/src/watch/watch-hub.ts',
      find: `    for (const other of this.#watchers) if (other.dataPlaneId === dataPlaneId) this.#endWatcher(other, 'replaced');
`,
      put: '',
      bug: 'two streams of one data plane stay open',
    },
    {
      file: 'controlplane/src/watch/watch-hub.ts',
      find: 'reset: missed === null,',
      put: 'reset: false,',
      bug: 'a data plane that missed too much keeps its cache',
    },
    {
      file: 'controlplane/src/watch/watch-hub.ts',
      find: `      await this.#feed.read();
      this.broadcast({ heartbeat: {} });`,
      put: '      this.broadcast({ heartbeat: {} });',
      bug: 'heartbeats confirm all revisions while the database is down',
    },
    {
      file: 'controlplane/src/watch/watch-hub.ts',
      find: `for (const watcher of before) if (!current.has(watcher.connectionId)) this.#endWatcher(watcher, 'replaced');`,
      put: `void current;`,
      bug: 'a data plane that moved to another control plane stays connected here',
    },
    {
      file: 'controlplane/src/watch/watch-hub.ts',
      find: `    watcher.sendInitialEvents([hello, ...(missed ?? []).map(toWatchEvent)], revision);`,
      put: `    watcher.sendInitialEvents([hello], revision);`,
      bug: 'missed invalidations are not replayed',
    },
    {
      file: 'controlplane/src/watch/watch-stream.ts',
      find: 'else if (!event.invalidation || event.revision! > this.#coveredRevision) this.#push(event);',
      put: 'else if (!event.invalidation || event.revision! > this.#coveredRevision + 1) this.#push(event);',
      bug: 'the first live invalidation is left out',
    },
    {
      file: 'controlplane/src/watch/watch-stream.ts',
      find: 'if (this.#coveredRevision === null) this.#enqueue(event);',
      put: 'if (this.#coveredRevision === null) return;',
      bug: 'invalidations during the handshake are lost',
    },
    {
      file: 'controlplane/src/watch/watch-stream.ts',
      find: `    if (this.#queue.length >= WATCHER_QUEUE_MAX) this.end('too_slow');
    else this.#queue.push(event);`,
      put: '    this.#queue.push(event);',
      bug: 'a data plane that does not read fills the memory',
    },
    {
      file: 'controlplane/src/watch/watch-stream.ts',
      find: `    if (this.#isBlocked) this.#enqueue(event);
    else this.#isBlocked = !this.sink.write(event);`,
      put: `    this.#isBlocked = !this.sink.write(event);`,
      bug: 'events are written over those that wait',
    },
    {
      file: 'controlplane/src/watch/watch-stream.ts',
      find: '    this.#queue.splice(0, sent);',
      put: '    this.#queue.splice(0, sent + 1);',
      bug: 'an event is lost when the other side reads slowly',
    },
  ],
};
