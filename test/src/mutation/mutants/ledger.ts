import type { Area } from '../mutant.js';

export const LEDGER: Area = {
  name: 'ledger',
  tests: ['test/src/ledger/ledger.test.ts'],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/ledger/ledger-store.ts',
      find: `  const newIds = new Set(rows.map(({ id }) => id));`,
      put: `  const newIds = new Set(entries.map(({ id }) => id));`,
      bug: 'an existing record is counted again',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/ledger-store.ts',
      find: `  return entries.filter(({ id }) => newIds.delete(id));`,
      put: `  return entries.filter(({ id }) => newIds.has(id));`,
      bug: 'a record twice in one batch counts twice',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/ledger-store.ts',
      find: `       where last_used_at is null or last_used_at < at
`,
      put: `       where true
`,
      bug: 'an older record moves the last use of a key back',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/ledger-store.ts',
      find: '    if (dayMs < todayMs) late.set',
      put: '    if (dayMs < todayMs - 86_400_000) late.set',
      bug: 'late records of yesterday are missing in the reports',
      tests: ['test/src/ledger/daily-rollups.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/ledger-store.ts',
      find: 'requests = h.requests + excluded.requests, errors = h.errors + excluded.errors,',
      put: 'requests = h.requests + excluded.requests, errors = excluded.errors,',
      bug: 'errors of an hour are reset with each batch',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/ledger-store.ts',
      find: 'tokens_in = h.tokens_in + excluded.tokens_in, tokens_out = h.tokens_out + excluded.tokens_out,',
      put: 'tokens_in = h.tokens_in + excluded.tokens_in, tokens_out = h.tokens_out + excluded.tokens_in,',
      bug: 'tokens in count as tokens out',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/ledger-store.ts',
      find: `        latency_sketch = h.latency_sketch || excluded.latency_sketch
`,
      put: `        latency_sketch = excluded.latency_sketch
`,
      bug: 'latencies of earlier batches are lost',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/month-spend-store.ts',
      find: 'set spent_nanos = least(m.spent_nanos, ${NANOS_SUM_MAX}) + excluded.spent_nanos,',
      put: 'set spent_nanos = greatest(m.spent_nanos, excluded.spent_nanos),',
      bug: 'a month contains only the most expensive batch',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/month-spend-store.ts',
      find: `      ledger_nanos = least(m.ledger_nanos, \${NANOS_SUM_MAX}) + excluded.ledger_nanos
`,
      put: `      ledger_nanos = excluded.ledger_nanos
`,
      bug: 'spend that only the ledger counts is lost',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/month-spend-store.ts',
      find: `      select 'project', a.project_id, month,`,
      put: `      select 'project', a.id, month,`,
      bug: 'a project has no spend',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/controlplane/budget-permissions.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/month-spend-store.ts',
      find: 'set spent_nanos = least(s.spent_nanos, ${NANOS_SUM_MAX}) + excluded.spent_nanos,',
      put: 'set spent_nanos = excluded.spent_nanos,',
      bug: 'the spend of an organization is reset',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/controlplane/budget-permissions.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-aggregation.ts',
      find: `  if (month === '' || month === utcMonthOf(startedAtMs)) return startOfUtcHour(startedAtMs);`,
      put: `  if (month !== '!') return startOfUtcHour(startedAtMs);`,
      bug: 'a call across the end of a month belongs to the month of its start',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/metering'],
    },
    {
      file: 'controlplane/src/ledger/usage-aggregation.ts',
      find: '  if (failed) sum.errors++;',
      put: '  if (failed) sum.errors += 0;',
      bug: 'errors are not counted',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-aggregation.ts',
      find: '  sum.tokensIn += entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;',
      put: '  sum.tokensIn += entry.tokensInUncached + entry.tokensCacheRead;',
      bug: 'tokens written to the cache are not counted',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-aggregation.ts',
      find: '  const key = `${agentId} ${hourMs} ${providerSlug} ${keyId} ${model}`;',
      put: '  const key = `${agentId} ${hourMs} ${providerSlug} ${model}`;',
      bug: 'two keys in one hour add to one of them',
      tests: [
        'test/src/reports/usage-by-scope.test.ts',
        'test/src/ledger/ledger.test.ts',
        'test/src/reports/usage-reports.test.ts',
      ],
    },
    {
      file: 'controlplane/src/ledger/usage-aggregation.ts',
      find: `  month.ledgerNanos += costNanos;
`,
      put: '',
      bug: 'deferred usage does not reach budgets',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/metering'],
    },
    {
      file: 'controlplane/src/ledger/usage-aggregation.ts',
      find: `sums.lastUsedMs = Math.max(lastUsed.get(dimensions.keyId) ?? 0, entry.startedAtMs);`,
      put: 'sums.lastUsedMs = entry.startedAtMs;',
      bug: 'records of two hours in one batch move the last use of a key back',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `    await storeDeferredSums(tx, newDeferredUsage);
`,
      put: '',
      bug: 'deferred usage is missing in the log',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/metering'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `    const rejections = batch.rejections.filter(({ id }) => newCountIds.has(id));`,
      put: '    const { rejections } = batch;',
      bug: 'repeated counts of rejections count again',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `    const ipObservations = batch.ipObservations.filter(({ id }) => newCountIds.has(id));`,
      put: `    const { ipObservations } = batch;`,
      bug: 'repeated IP observations count again',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/usage-detectors.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: 'beforeNanos: spentNanos - added.costNanos',
      put: 'beforeNanos: spentNanos',
      bug: 'no budget threshold is ever crossed',
      tests: ['test/src/usage-detectors.test.ts', 'test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `      ledger.insertLatePeriods(tx, hourlyRollups, Date.now()),`,
      put: '      null,',
      bug: 'late records are missing in reports of past days',
      tests: ['test/src/ledger/daily-rollups.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `      if (isDuplicateKeyError(error) && insertMode === 'all_new')
        return this.#bookOrSplit(batch, quarantined, 'some_new');
`,
      put: '',
      bug: 'a repeated batch is poisoned',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `    if (this.#waiting.length >= WAITING_REPORTS_MAX) throw new IngestOverloaded();
`,
      put: '',
      bug: 'reports queue without bound',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `      if (isMissingPartitionError(error)) this.#partitions.clearKnownPartitions(); // the next attempt creates the partition
`,
      put: '',
      bug: 'a dropped day stops ingest for ever',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `      if (!isDataError(error)) throw error;
`,
      put: '',
      bug: 'an outage of the database poisons records',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/controlplane/database-connection-loss.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: '  if (size <= 1) return null;',
      put: '  if (size <= 2) return null;',
      bug: 'one invalid record poisons a valid one',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `    await insertQuarantinedRecords(this.#sql, quarantined);
`,
      put: '',
      bug: 'poisoned records are lost',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `    rejections: uniqueById(all(({ rejections }) => rejections)),`,
      put: '    rejections: all(({ rejections }) => rejections),',
      bug: 'a count twice in one transaction counts twice',
      tests: ['test/src/ledger/exactly-once-ingest.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/deferred-usage.ts',
      find: `digest: shortDigest(fetch.providerSlug, sourceId, lineId),`,
      put: `digest: shortDigest(fetch.providerSlug, lineId),`,
      bug: 'lines of two batches with one name count as one',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/metering'],
    },
    {
      file: 'controlplane/src/ledger/deferred-usage.ts',
      find: `    on conflict do nothing
    returning org_id`,
      put: `    on conflict (org_id, digest) do update set digest = excluded.digest
    returning org_id`,
      bug: 'a line is recorded each time it is fetched',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/metering'],
    },
    {
      file: 'controlplane/src/ledger/deferred-usage.ts',
      find: `  if (!Object.values(amounts).every((value) => value >= 0 && value <= COUNT_MAX)) return null;
`,
      put: '',
      bug: 'a line with invalid usage is recorded',
      tests: ['test/src/ledger/ledger.test.ts', 'controlplane/src/ledger/usage-batch.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/deferred-usage.ts',
      find: `else for (const name of AMOUNT_FIELDS) sum[name] += line[name];`,
      put: 'else sum.costNanos += line.costNanos;',
      bug: 'the log shows the tokens of one line of a batch only',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/metering'],
    },
    {
      file: 'controlplane/src/ledger/batch-result-files.ts',
      find: `return new Set(rows.filter(({ closed }) => closed).map(resultFileKey));`,
      put: `return new Set(rows.filter(() => false).map(resultFileKey));`,
      bug: 'lines of a closed file are recorded twice',
      tests: ['test/src/ledger/batch-result-files.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/batch-result-files.ts',
      find: 'order by last_at limit 1 for no key update skip locked)',
      put: 'order by last_at limit 1)',
      bug: 'a file is closed while one of its lines is being recorded',
      tests: ['test/src/ledger/batch-result-files.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/deferred-usage.ts',
      find: `  await recordResultFileActivity(tx, resultFilesOf(claimed));
`,
      put: '',
      bug: 'a file is closed 60 days after its first line',
      tests: ['test/src/ledger/batch-result-files.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/commit-marks.ts',
      find: 'and kept.mark = asked.id',
      put: '',
      bug: 'a lost commit counts as present once its number is reissued',
      tests: ['test/src/ledger/commit-marks.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `      addDeferredSumsToEntries(commit.entries, commit.deferredSums);
`,
      put: '',
      bug: 'the span of a batch fetch costs nothing',
      tests: ['test/src/traces/span-export.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/rejection-and-quarantine-store.ts',
      find: 'do update set count = h.count + excluded.count`;',
      put: 'do update set count = excluded.count`;',
      bug: 'rejections of an hour are reset with each report',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/reports/usage-reports.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-batch.ts',
      find: `  if (minute < bookableRange.fromMs || minute >= bookableRange.toMs) return null;
`,
      put: '',
      bug: 'rejections of any year are recorded',
      tests: ['controlplane/src/ledger/usage-batch.test.ts', 'test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-batch.ts',
      find: '    if (field !== DATA_PLANE_ID && ++this.#items > ITEMS_MAX) {',
      put: '    if (field !== DATA_PLANE_ID && ++this.#items < 0) {',
      bug: 'a report of any size is accepted',
      tests: ['controlplane/src/ledger/usage-batch.test.ts', 'test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-field-validation.ts',
      find: `  if (value > max) throw new InvalidUsageRecord(\`\${field} is out of range\`);
`,
      put: '',
      bug: 'usage of any size is recorded',
      tests: ['controlplane/src/ledger/usage-batch.test.ts', 'test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-field-validation.ts',
      find: `  return cut.includes('\\0') ? cut.replaceAll('\\0', '\\ufffd') : cut;`,
      put: '  return cut;',
      bug: 'a NUL in a model name costs the record',
      tests: ['controlplane/src/ledger/usage-batch.test.ts', 'test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/daily-rollups.ts',
      find: `    const end = startOfUtcDay(nowMs - HOUR_MS);`,
      put: `    const end = startOfUtcDay(nowMs);`,
      bug: 'a day is closed while its last calls are still running',
      tests: ['test/src/ledger/daily-rollups.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/daily-rollups.ts',
      find: `  await tx\`delete from usage_late where day = \${new Date(dayMs)}\`;
`,
      put: '',
      bug: 'a day stays marked late after its rollup',
      equivalent: 'the same call rolls it up again and uses the row then: only extra work',
      tests: ['test/src/ledger/daily-rollups.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/daily-rollups.ts',
      find: `  await tx.unsafe(\`delete from usage_daily_by where day = '\${day}' \${orgCondition}\`);
`,
      put: '',
      bug: 'a day that is rolled up again is counted twice',
      tests: ['test/src/ledger/daily-rollups.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-retention.ts',
      find: '           where hour < least(${before}::timestamptz, (select rolled_until from usage_daily_progress))',
      put: '           where hour < ${before}::timestamptz',
      bug: 'hours are deleted before their daily rollup',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-retention.ts',
      find: `             and not exists (select from usage_late l where l.org_id = usage_hourly.org_id
               and l.day = date_trunc('day', usage_hourly.hour))
`,
      put: `
`,
      bug: 'hours of a late day are deleted before its new rollup',
      tests: ['test/src/ledger/ledger.test.ts', 'test/src/ledger/daily-rollups.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-retention.ts',
      find: `startOfUtcDay(nowMs) - (this.retentionDays.logs + GRACE_DAYS) * DAY_MS`,
      put: `startOfUtcDay(nowMs) - (this.retentionDays.logs - GRACE_DAYS) * DAY_MS`,
      bug: 'a day that is to be kept is dropped',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-day-partitions.ts',
      find: '{ fromMs: today - this.#retentionDays * DAY_MS, toMs: today + 2 * DAY_MS }',
      put: '{ fromMs: today - 2 * this.#retentionDays * DAY_MS, toMs: today + 2 * DAY_MS }',
      bug: 'records of dropped days are recorded again',
      tests: ['test/src/ledger/ledger.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/usage-ingest.ts',
      find: `    ipObservations: uniqueById(all(({ ipObservations }) => ipObservations)),`,
      put: `    ipObservations: all(({ ipObservations }) => ipObservations),`,
      bug: 'an IP observation twice in one transaction counts twice',
      tests: ['test/src/ledger/exactly-once-ingest.test.ts'],
    },
    {
      file: 'controlplane/src/ledger/rejection-and-quarantine-store.ts',
      find: '    on conflict do nothing returning id`;',
      put: '    on conflict (id) do update set id = excluded.id returning id`;',
      bug: 'repeated counts count again',
      tests: ['test/src/ledger/exactly-once-ingest.test.ts'],
    },
  ],
};
