/** The Audit page: who changed what, and from which address. */
import { AUDIT_ACTIONS } from '@acg/base/audit-actions';
import { Anchor, Button, Code, Group, NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMissingRoleReason } from '../../api/session.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { DateRangeInputs } from '../../components/forms/date-range-inputs.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { auditEntriesToCsv } from './audit-csv.js';
import { type AuditEntry, DEFAULT_AUDIT_FILTERS, fetchAuditEntries, PAGE_SIZE } from './fetch-audit-entries.js';
import { FieldChanges } from './field-changes.js';

const actorName = (actor: AuditEntry['actor']): string =>
  'email' in actor ? actor.email || 'the gateway' : `token ${actor.name}`;
const actorId = (actor: AuditEntry['actor']): string | null => ('email' in actor ? actor.userId : actor.tokenId);

/** All known actions, plus the selected one: a link may name an action that is not in the list. */
const actionOptions = (chosen: string) => [
  { value: '', label: 'Any action' },
  ...[...new Set<string>([...AUDIT_ACTIONS, chosen])].filter((action) => action !== ''),
];

export function AuditPage() {
  const missingRoleReason = useMissingRoleReason('admin');
  return missingRoleReason === null ? (
    <AuditTrail />
  ) : (
    <>
      <PageHeader title="Audit" />
      <EmptyState title="Not available for your role" text={missingRoleReason} />
    </>
  );
}

function AuditTrail() {
  const { values, set, clear, isFiltered } = useUrlState(DEFAULT_AUDIT_FILTERS);
  const entries = useQuery({ queryKey: ['audit', values], queryFn: () => fetchAuditEntries(values) });
  return (
    <>
      <PageHeader
        title="Audit"
        description="Every change by users and management tokens. Secrets are never recorded. Days are UTC."
        actions={
          <Button
            variant="default"
            component="a"
            leftSection={<Download size={14} aria-hidden />}
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(auditEntriesToCsv(entries.data?.entries ?? []))}`}
            download="audit.csv"
          >
            Export page as CSV
          </Button>
        }
      />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <NativeSelect
          label="Action"
          data={actionOptions(values.action)}
          value={values.action}
          onChange={(event) => set({ action: event.currentTarget.value })}
        />
        <DateRangeInputs start={values.start} end={values.end} onChange={set} />
        {values.actor !== '' && (
          <Button variant="default" onClick={() => set({ actor: '' })}>
            All actors
          </Button>
        )}
        {isFiltered && (
          <Button variant="subtle" onClick={clear}>
            Clear filters
          </Button>
        )}
      </Group>
      <DataTable
        label="Changes"
        query={entries}
        rows={(data) => data.entries}
        rowKey={({ id }) => id}
        filtered={isFiltered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<EmptyState title="No changes yet" />}
        columns={[
          {
            header: 'Time',
            cell: ({ at }) => (
              <Text size="sm" span style={{ whiteSpace: 'nowrap' }}>
                <RelativeTime at={at} />
              </Text>
            ),
          },
          {
            header: 'Actor',
            cell: ({ actor }) => (
              <Anchor
                component="button"
                type="button"
                size="sm"
                c="inherit"
                underline="always"
                className="acg-break-anywhere acg-actor"
                title="Show only this actor"
                onClick={() => set({ actor: actorId(actor) ?? '' })}
              >
                {actorName(actor)}
              </Anchor>
            ),
          },
          { header: 'Action', cell: ({ action }) => <Code>{action}</Code> },
          {
            header: 'Target',
            cell: ({ target }) => (
              <Text size="sm" span title={target.id}>
                {target.type.replaceAll('_', ' ')} <Code>{target.id.slice(0, 8)}</Code>
              </Text>
            ),
          },
          { header: 'Changes', cell: ({ changes }) => <FieldChanges changes={changes} /> },
          { header: 'IP address', cell: ({ ip }) => ip, wideOnly: true },
        ]}
      />
    </>
  );
}
