/** The columns of the list of calls. */
import { Code } from '@mantine/core';
import { CallOutcomeBadge } from '../../components/feedback/call-status-badge.js';
import { CallPath } from '../../components/reports/call-path.js';
import { sharedFieldsOf } from '../../components/reports/merged-call.js';
import type { Column } from '../../components/tables/data-table.js';
import { NO_VALUE } from '../../format/format.js';
import { timeZoneUnit } from '../../format/time-zone.js';
import { CallTime } from './call-time.js';
import { type CallRow, formatCost, formatLatency, formatTokens } from './fetch-calls-and-format-fields.js';

/** The cells are constant, so that the table renders a loaded call once, and not at each request of the live list. */
const TIME: Column<CallRow> = { header: 'Time', cell: ({ at }) => <CallTime at={at} /> };
const OTHERS: readonly Column<CallRow>[] = [
  {
    header: 'Agent',
    cell: (call) => {
      const { agentName, agentId } = sharedFieldsOf(call);
      return <span className="acg-name">{agentName ?? <Code>{agentId.slice(-8)}</Code>}</span>;
    },
  },
  { header: 'Call', cell: (call) => <CallPath call={call} /> },
  { header: 'Status', cell: (call) => <CallOutcomeBadge {...call} /> },
  {
    header: 'Model',
    cell: (call) => {
      const model = call.rejected?.tool ?? sharedFieldsOf(call).model;
      return (
        <span className="acg-one-line acg-model" title={model ?? ''}>
          {model ?? NO_VALUE}
        </span>
      );
    },
    wideOnly: true,
  },
  { header: 'Tokens in → out', numeric: true, cell: formatTokens },
  { header: 'Cost', numeric: true, cell: formatCost },
  { header: 'Duration', numeric: true, cell: formatLatency },
  {
    header: 'Gateway token',
    cell: (call) => {
      const { keyName, keyPrefix } = sharedFieldsOf(call);
      return keyName ?? keyPrefix ?? NO_VALUE;
    },
    isOptional: true,
  },
  { header: 'Client', cell: ({ rejected }) => rejected?.clientNetwork ?? NO_VALUE, isOptional: true },
];

/** With the unit of the times, which daylight saving time changes. */
export const callColumns = (): readonly Column<CallRow>[] => [
  { ...TIME, header: `Time (${timeZoneUnit(Date.now())})` },
  ...OTHERS,
];
