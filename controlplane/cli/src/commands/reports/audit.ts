/** `acg audit`: lists the audit trail. */
import { textField } from '../../options/field.js';
import { formatMinute } from '../../terminal/format-numbers-and-times.js';
import { groupList } from '../descriptors/register-list-commands.js';

export const registerAuditCommand = groupList({
  operation: 'GET /v1/audit',
  rows: 'entries',
  filters: {
    actorId: textField('--actor <id>', 'only of this user or management token'),
    action: textField('--action <action>', 'only these, e.g. agent.update'),
    start: textField('--start <day>', 'first day, YYYY-MM-DD, UTC'),
    end: textField('--end <day>', 'last day'),
  },
  columns: [
    { title: 'AT (UTC)', cell: ({ at }) => formatMinute(at) },
    { title: 'WHO', cell: ({ actor }) => ('email' in actor ? actor.email : actor.name) },
    { title: 'ACTION', cell: ({ action }) => action },
    { title: 'TARGET', cell: ({ target }) => `${target.type} ${target.id}` },
    { title: 'CHANGES', cell: ({ changes }) => formatChanges(changes) },
  ],
});

const formatChanges = (changes: Readonly<Record<string, readonly unknown[]>>): string =>
  Object.entries(changes)
    .map(([field, [before, after]]) => `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`)
    .join(', ');
