/** The Audit page: who changed what, and from which address. */
import { AUDIT_ACTIONS } from '@acg/base/audit-actions';
import { Anchor, Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { DateRangeInputs } from '../../components/forms/date-range-inputs.js';
import { FilterBar } from '../../components/forms/filter-bar.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { FilterChips } from '../../components/tables/filter-chips.js';
import { saveCsv } from '../../format/csv.js';
import { formatCount } from '../../format/format.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useMembers } from '../../resources/use-members.js';
import { auditEntriesToCsv } from './audit-csv.js';
import { EntrySentence, nameOfTarget } from './describe-entry.js';
import {
  type AuditEntry,
  DEFAULT_AUDIT_FILTERS,
  EXPORTED_MAX,
  fetchAllAuditEntries,
  fetchAuditEntries,
  PAGE_SIZE,
} from './fetch-audit-entries.js';
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
  const members = useMembers();
  const { query, sorting } = useUrlSorting(['at']);
  const entries = useQuery({
    queryKey: ['audit', values, query],
    queryFn: () => fetchAuditEntries(values, query.order),
    placeholderData: keepPreviousData,
  });
  const exportAll = useMutation({
    mutationFn: () => fetchAllAuditEntries(values),
    onSuccess: ({ entries: all, isComplete }) => {
      saveCsv('audit.csv', auditEntriesToCsv(all));
      if (!isComplete)
        showToast(`The file has the newest ${formatCount(EXPORTED_MAX)} entries. Export the rest by days.`);
    },
    onError: showErrorToast,
  });
  const listed = entries.data?.entries ?? [];
  const person = members.data?.find(({ userId }) => userId === values.actor);
  const actorInList = listed.find(({ actor }) => actorId(actor) === values.actor)?.actor;
  const target = listed.find((entry) => entry.target.id === values.target);
  const chips = [
    values.search !== '' && { text: `Contains: ${values.search}`, onRemove: () => set({ search: '' }) },
    values.action !== '' && { text: `Action: ${values.action}`, onRemove: () => set({ action: '' }) },
    values.actor !== '' && {
      text: `By: ${person?.email ?? (actorInList === undefined ? values.actor.slice(-8) : actorName(actorInList))}`,
      onRemove: () => set({ actor: '' }),
    },
    values.target !== '' && {
      text: `Object: ${(target === undefined ? null : nameOfTarget(target)) ?? values.target.slice(-8)}`,
      onRemove: () => set({ target: '' }),
    },
    values.start !== '' && { text: `From ${values.start}`, onRemove: () => set({ start: '' }) },
    values.end !== '' && { text: `To ${values.end}`, onRemove: () => set({ end: '' }) },
  ].filter((chip) => chip !== false);
  return (
    <>
      <PageHeader
        title="Audit"
        description="Every change by users and management tokens. Secrets are never recorded. Days are UTC."
        actions={
          <Button
            variant="default"
            leftSection={<Download size={14} aria-hidden />}
            loading={exportAll.isPending}
            onClick={() => exportAll.mutate()}
            title="All entries of these filters, not only this page"
          >
            Export as CSV
          </Button>
        }
      />
      <FilterBar isFiltered={isFiltered}>
        <TextInput
          label="Search"
          placeholder="E-mail, action, object id or IP address"
          flex="1 1 220px"
          value={values.search}
          onChange={(event) => set({ search: event.currentTarget.value }, { replace: true })}
        />
        <NativeSelect
          label="Person"
          data={[
            { value: '', label: 'Any person' },
            ...(members.data ?? []).flatMap(({ userId, email }) =>
              userId === null ? [] : [{ value: userId, label: email }],
            ),
            ...(values.actor === '' || person !== undefined
              ? []
              : [{ value: values.actor, label: values.actor.slice(-8) }]),
          ]}
          value={values.actor}
          onChange={(event) => set({ actor: event.currentTarget.value })}
        />
        <NativeSelect
          label="Action"
          data={actionOptions(values.action)}
          value={values.action}
          onChange={(event) => set({ action: event.currentTarget.value })}
        />
        <DateRangeInputs start={values.start} end={values.end} onChange={set} />
      </FilterBar>
      <FilterChips chips={chips} onClear={clear} />
      <DataTable
        label="Changes"
        query={entries}
        rows={(data) => data.entries}
        rowKey={({ id }) => id}
        sorting={sorting}
        filtered={isFiltered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<EmptyState title="No changes yet" />}
        columns={[
          {
            header: 'Time',
            sortKey: 'at',
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
          { header: 'What', cell: (entry) => <EntrySentence entry={entry} /> },
          {
            header: 'History',
            cell: (entry) => (
              <Anchor
                component="button"
                type="button"
                size="sm"
                underline="always"
                aria-label={`View history: ${nameOfTarget(entry) ?? entry.target.id}`}
                onClick={() => set({ target: entry.target.id })}
              >
                View
              </Anchor>
            ),
          },
          { header: 'Changes', cell: ({ changes }) => <FieldChanges changes={changes} /> },
          { header: 'IP address', cell: ({ ip }) => ip, wideOnly: true },
        ]}
      />
    </>
  );
}
