import type { Area } from '../mutant.js';

const SPOOL = 'dataplane/src/usage/spool/spool.ts';
const SEGMENTS = 'dataplane/src/usage/spool/segment-queue.ts';
const FORMAT = 'dataplane/src/usage/spool/segment-format.ts';
const SET_ASIDE = 'dataplane/src/usage/spool/quarantine.ts';
const SHIPPER = 'dataplane/src/usage/usage-reporter.ts';

export const SPOOL_AREA: Area = {
  name: 'spool',
  tests: ['dataplane/src/usage'],
  built: false,
  mutants: [
    {
      file: SPOOL,
      find: '  async close(): Promise<void> {\n    this.flush();',
      put: '  async close(): Promise<void> {',
      bug: 'close() does not flush',
    },
    {
      file: SPOOL,
      find: `for (const done of callbacks) this.#runCallback(done, error);`,
      put: `for (const done of callbacks) this.#runCallback(done, null);`,
      bug: 'an unwritten record is acknowledged',
    },
    {
      file: SPOOL,
      find: `return this.#isAtCap || this.#unwrittenBytes > 0;`,
      put: `return this.#isAtCap;`,
      bug: 'calls continue while the disk rejects records',
    },
    {
      file: SPOOL,
      find: `return this.#isAtCap || this.#unwrittenBytes > 0;`,
      put: `return this.#unwrittenBytes > 0;`,
      bug: 'calls continue when the spool is full',
    },
    {
      file: SPOOL,
      find: `this.#unwritten.push(Buffer.from(bytes));`,
      put: `this.#unwritten.push(bytes);`,
      bug: 'records waiting in memory are overwritten in the next tick',
    },
    {
      file: SPOOL,
      find: `      this.#unwritten.shift();
`,
      put: `      this.#unwritten.shift();
      this.#segments.append(bytes, this.#now());
`,
      bug: 'a waiting record is written twice',
    },
    {
      file: SPOOL,
      find: `if (this.#unwritten.length > 0) this.#retryUnwritten();`,
      put: '',
      bug: 'records waiting in memory are not written at shutdown',
    },
    {
      file: SPOOL,
      find: 'bytes >= this.#bytesMax * RESUME_RATIO : bytes >= this.#bytesMax;',
      put: 'false : bytes >= this.#bytesMax;',
      bug: 'a full spool accepts records again at once',
    },
    {
      file: SPOOL,
      find: 'if (this.#closed) return; // another process',
      put: 'if (false) return; // its directory',
      bug: "a response after the end deletes another process's segment",
    },
    {
      file: SPOOL,
      find: `for (const range of scan.damaged) this.#quarantine.store(segment.path, at, chunk, range);`,
      put: '',
      bug: 'damaged bytes are dropped without a log line',
    },
    {
      file: SPOOL,
      find: 'return { payloads: scan.payloads, records: scan.records, segment, to: at + scan.consumed };',
      put: 'return { payloads: scan.payloads, records: scan.records, segment, to: end };',
      bug: 'more is acknowledged than was sent',
    },
    {
      file: SPOOL,
      find: `      directory.lock.release();
      this.#directories.delete(path);`,
      put: `      this.#directories.delete(path);`,
      bug: 'the directory of a dead worker stays locked for ever',
    },
    {
      file: SPOOL,
      find: `    this.#quarantine.store(batch.segment.path, batch.to, bytes, { from: 0, to: bytes.length });
`,
      put: '',
      bug: 'permanently rejected records are dropped',
    },
    {
      file: SET_ASIDE,
      find: 'mode: 0o600 });\n    } catch',
      put: 'mode: 0o644 });\n    } catch',
      bug: 'poisoned records are readable by every user of the machine',
    },
    {
      file: SPOOL,
      find: `if (this.isFull || this.isFullFor(count.orgId ?? '')) return false;
    this.#appendMessage(FIELD.rejection`,
      put: `this.#appendMessage(FIELD.rejection`,
      bug: 'statistics fill a spool that is full',
    },
    {
      file: SEGMENTS,
      find: `if (segment.acknowledgedBytes >= segment.bytes) closeSync(fd);
    else fdatasync`,
      put: 'if (true) closeSync(fd);\n    else fdatasync',
      bug: 'sealed segments are never pushed to the disk',
      equivalent:
        'visible only after a power loss: no test on this machine can distinguish the page cache from the disk',
    },
    {
      file: SEGMENTS,
      find: "openSync(path, 'wx', 0o600)",
      put: "openSync(path, 'w', 0o600)",
      bug: 'a segment of an earlier run with the same name is overwritten',
    },
    {
      file: SEGMENTS,
      find: 'ftruncateSync(segment.fd, segment.bytes);',
      put: 'void ftruncateSync;',
      bug: 'half a frame stays after a shorter one',
      built: true,
    },
    {
      file: SEGMENTS,
      find: 'return segment.bytes >= this.#limits.segmentBytes || nowMs - segment.createdMs >= this.#limits.segmentAgeMs;',
      put: 'return segment.bytes >= this.#limits.segmentBytes;',
      bug: 'a quiet segment is never sealed',
    },
    {
      file: SEGMENTS,
      find: `      segment.acknowledgedBytes = 0;`,
      put: `      if (segment.keptSinceMs !== null) segment.acknowledgedBytes = 0;`,
      bug: 'the acknowledged part of a segment that is still written is not sent again',
    },
    {
      file: SEGMENTS,
      find: `return this.#bytesOnDisk - this.#bytesRetained;`,
      put: 'return this.#bytesOnDisk;',
      bug: 'calls are rejected for usage that the ledger has',
    },
    {
      file: SEGMENTS,
      find: `while (this.#bytesRetained > 0 && this.#bytesOnDisk > bytesMax) {`,
      put: `while (this.#bytesRetained > bytesMax) {`,
      bug: 'kept usage and new usage together take more than the cap',
    },
    {
      file: SEGMENTS,
      find: 'if (newest !== null) this.#adoptedMarks.push(newest);',
      put: '',
      bug: 'a loss while the data plane was down is not detected',
    },
    {
      file: SEGMENTS,
      find: `if (segment.retainedSinceMs !== null) renameToUnsent(segment);`,
      put: '',
      bug: 'a crash while everything is sent again loses the rest',
    },
    {
      file: SHIPPER,
      find: '      this.#rewind();\n      return;\n',
      put: '      this.#rewind();\n',
      bug: 'batches before the one that showed the loss are not sent again',
    },
    {
      file: FORMAT,
      find: 'return crc32(buffer.subarray(body, body + payloadBytes), lengths);',
      put: 'return lengths;',
      bug: 'the checksum covers the lengths only',
    },
    {
      file: FORMAT,
      find: 'if (payloadBytes > FRAME_PAYLOAD_BYTES_MAX) return DAMAGED;',
      put: '',
      bug: 'a damaged length makes the reader wait for bytes that never come',
    },
    {
      file: FORMAT,
      find: 'if (payloads.length > 0 && records + frameRecords > limit.recordsMax) break;',
      put: 'if (records + frameRecords > limit.recordsMax) break;',
      bug: 'a frame with many records is never sent',
    },
    {
      file: FORMAT,
      find: 'const stop = Math.max(at + 1, chunk.length - 3);',
      put: 'const stop = chunk.length;',
      bug: 'a frame whose beginning is cut by the read is lost after damage',
    },
    {
      file: FORMAT,
      find: 'if (payloadBytes === INCOMPLETE && !final) break;',
      put: '',
      bug: 'a frame that continues in the next read counts as damage',
    },
    {
      file: SHIPPER,
      find: `if (outcome.kind === 'rejected') this.#onRejected(batch, outcome.reason);
        else this.#onCommitted`,
      put: `this.#onCommitted`,
      bug: 'a rejected batch counts as recorded',
    },
    {
      file: SHIPPER,
      find: 'this.#singleFramesLeft = batch.payloads.length; // nothing',
      put: 'this.#spool.quarantine(batch); // nothing',
      bug: 'one damaged frame drops its whole batch',
    },
    {
      file: SHIPPER,
      find: `this.#onUnreachable(error);
        await this.#sleep(this.#backoff.nextDelayMs());`,
      put: `this.#onUnreachable(error);
        return;`,
      bug: 'a batch is given up after one failure',
      equivalent: 'it was not acknowledged: the same bytes are read again at once',
    },
    {
      file: SHIPPER,
      find: `return this.#spool.stats().bytesUnacknowledged === 0;`,
      put: 'return true;',
      bug: 'flush reports success although records are missing',
    },
    {
      file: SHIPPER,
      find: `await Promise.race([this.#runLoop, grace]);`,
      put: `await this.#runLoop;`,
      bug: 'a silent control plane delays shutdown',
    },
    {
      file: SEGMENTS,
      find: `if (segment.fd === -1 && segment.acknowledgedBytes >= segment.bytes) this.#retain(segment, nowMs);`,
      put: `if (segment.fd === -1) this.#retain(segment, nowMs);`,
      bug: 'a finished segment is deleted although records are unacknowledged',
    },
    {
      file: SEGMENTS,
      find: `if (segment.fd === -1 && segment.acknowledgedBytes >= segment.bytes) this.#retain(segment, nowMs);`,
      put: '',
      bug: 'acknowledged records stay on the disk',
    },
    {
      file: SEGMENTS,
      find: `segment.acknowledgedBytes = Math.max(segment.acknowledgedBytes, offset);`,
      put: `segment.acknowledgedBytes = offset;`,
      bug: 'a late response reverts an acknowledgement',
      equivalent: 'batches are sent one after the other: offsets only rise',
    },
    {
      file: SEGMENTS,
      find: `this.#segments.find((segment) => segment.acknowledgedBytes < segment.bytes)`,
      put: `this.#segments.findLast((segment) => segment.acknowledgedBytes < segment.bytes)`,
      bug: 'the newest records are sent first',
    },
    {
      file: SEGMENTS,
      find: `    this.#segments.unshift(...retainedSegments, ...unsentSegments);
`,
      put: '',
      bug: 'the usage of a dead worker is never sent',
    },
  ],
};
