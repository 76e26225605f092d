/** Who changed what, and from where. */
import { AUDIT_ACTIONS } from '@acg/base/audit-actions';
import { Anchor, Button, Code, Group, NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useWhyNot } from '../../api/role.js';
import { Ago } from '../../parts/ago.js';
import { DataTable } from '../../parts/data-table.js';
import { DayRange } from '../../parts/day-range.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { csvOf } from './audit-csv.js';
import { AUDIT_FILTERS, type AuditEntry, PAGE_SIZE, readEntries } from './audit-entries.js';
import { Changes } from './changes.js';

const whoDid = (actor: AuditEntry['actor']): string =>
  'email' in actor ? actor.email || 'the gateway' : `token ${actor.name}`;
const actorId = (actor: AuditEntry['actor']): string | null => ('email' in actor ? actor.userId : actor.tokenId);

/** All that there are; a link may name another, which must not look as if nothing were chosen. */
const actionChoices = (chosen: string) => [
  { value: '', label: 'Any action' },
  ...[...new Set<string>([...AUDIT_ACTIONS, chosen])].filter((action) => action !== ''),
];

export function Audit() {
  const whyNot = useWhyNot('admin');
  return whyNot === null ? (
    <Trail />
  ) : (
    <>
      <PageHeader title="Audit" />
      <Nothing title="Not for your role" text={whyNot} />
    </>
  );
}

function Trail() {
  const { values, set, clear, filtered } = useSearchState(AUDIT_FILTERS);
  const entries = useQuery({ queryKey: ['audit', values], queryFn: () => readEntries(values) });
  return (
    <>
      <PageHeader
        title="Audit"
        description="Every change, by people and by management tokens. Secrets are never in it. Days are UTC."
        actions={
          <Button
            variant="default"
            component="a"
            leftSection={<Download size={14} aria-hidden />}
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(entries.data?.entries ?? []))}`}
            download="audit.csv"
          >
            This page as CSV
          </Button>
        }
      />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <NativeSelect
          label="Action"
          data={actionChoices(values.action)}
          value={values.action}
          onChange={(event) => set({ action: event.currentTarget.value })}
        />
        <DayRange start={values.start} end={values.end} onChange={set} />
        {values.actor !== '' && (
          <Button variant="default" onClick={() => set({ actor: '' })}>
            Everybody’s
          </Button>
        )}
        {filtered && (
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
        filtered={filtered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<Nothing title="Nothing has changed yet" />}
        columns={[
          {
            header: 'When',
            cell: ({ at }) => (
              <Text size="sm" span style={{ whiteSpace: 'nowrap' }}>
                <Ago at={at} />
              </Text>
            ),
          },
          {
            header: 'Who',
            cell: ({ actor }) => (
              <Anchor
                component="button"
                type="button"
                size="sm"
                c="inherit"
                underline="always"
                className="acg-break acg-who"
                title="Only what they did"
                onClick={() => set({ actor: actorId(actor) ?? '' })}
              >
                {whoDid(actor)}
              </Anchor>
            ),
          },
          { header: 'Did', cell: ({ action }) => <Code>{action}</Code> },
          {
            header: 'To',
            cell: ({ target }) => (
              <Text size="sm" span title={target.id}>
                {target.type.replaceAll('_', ' ')} <Code>{target.id.slice(0, 8)}</Code>
              </Text>
            ),
          },
          { header: 'Changed', cell: ({ changes }) => <Changes changes={changes} /> },
          { header: 'From address', cell: ({ ip }) => ip, wideOnly: true },
        ]}
      />
    </>
  );
}
