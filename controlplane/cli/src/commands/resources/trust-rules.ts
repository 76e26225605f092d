/** `acg trust-rules`: manages which workloads get gateway tokens for tokens of their own platform. */
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { fetchAllRows, type RowOf } from '../../api/call-api-operation.js';
import { findAgentId } from '../../api/find-agent.js';
import { isUuid, selectByName } from '../../api/find-by-name.js';
import {
  choiceField,
  type Field,
  flagField,
  mapField,
  parsedField,
  requiredField,
  textField,
} from '../../options/field.js';
import { agentIdField } from '../../options/lookup-fields.js';
import { parseDuration } from '../../options/parse-duration.js';
import { usage } from '../../terminal/cli-error.js';
import { formatAgo, formatDuration } from '../../terminal/format-numbers-and-times.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

type TrustRule = RowOf<'GET /v1/trust-rules', 'rules'>;
type Condition = TrustRule['conditions'][number];

const RULE = {
  argument: ['<rule>', 'id or name'],
  async find(run, text) {
    const client = await run.getClient();
    if (isUuid(text)) return (await client.get('/v1/trust-rules/{id}', { params: { path: { id: text } } })).rule;
    const rules = await fetchAllRows(client, 'GET /v1/trust-rules', 'rules');
    return selectByName(rules, text, 'trust rule', 'acg trust-rules ls');
  },
} as const satisfies Target<TrustRule>;

/** Issuers that have the same URL for everybody. */
const ISSUERS: Readonly<Record<string, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
};

/** `claim=value`, repeatable; values of the same claim are alternatives. */
function appendCondition(text: string, before: Condition[] = []): Condition[] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('It must have the form claim=value.');
  const [claim, value] = [text.slice(0, at), text.slice(at + 1)];
  const known = before.find((condition) => condition.claim === claim);
  if (known === undefined) return [...before, { claim, values: [value] }];
  return before.map((one) => (one === known ? { claim, values: [...one.values, value] } : one));
}

const conditionsField = (): Field<Condition[]> =>
  parsedField(
    '--condition <claim=value>',
    'what a token must contain, e.g. repository_id=4711; repeatable',
    appendCondition,
  );
const lifetimeField = mapField(
  textField('--lifetime <span>', 'how long a gateway token lives, 1m to 1h; 15m, if left out'),
  (span) => parseDuration(span, '--lifetime') / 1_000,
);
const jwksField: Field<{ keys: Record<string, unknown>[] }> = mapField(
  textField('--jwks <file>', 'public keys of an issuer that the gateway cannot reach, as a JWK set'),
  (file) => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as { keys: Record<string, unknown>[] };
    } catch (error) {
      throw usage(`--jwks: ${(error as Error).message}`);
    }
  },
);

const formatConditions = ({ conditions }: TrustRule): string =>
  conditions.map(({ claim, values }) => `${claim}=${values.join('|')}`).join(' ');

const formatRule = (rule: TrustRule): string =>
  [
    `${rule.name}  ${rule.id}`,
    `  agent      ${rule.agentName}`,
    `  issuer     ${rule.issuer} (keys by ${rule.keySource}${rule.keysFailure === null ? '' : `: ${rule.keysFailure}`})`,
    `  audience   ${rule.audience}`,
    `  conditions ${formatConditions(rule)}`,
    `  token      lives ${formatDuration(rule.keyLifetimeSeconds * 1_000)}${rule.jtiOnce ? '; each jti once' : ''}`,
    `  last used  ${formatAgo(rule.lastUsedAt, Date.now())}`,
    ...(rule.rejection === null ? [] : [`  rejected   ${formatAgo(rule.rejectedAt, Date.now())}: ${rule.rejection}`]),
  ].join('\n');

export const registerTrustRuleCommands = commandGroup(
  listCommand({
    description: 'list trust rules',
    operation: 'GET /v1/trust-rules',
    rows: 'rules',
    inProject: true,
    filters: { agentId: agentIdField('only those of one agent') },
    columns: [
      { title: 'RULE', cell: ({ name }) => name },
      { title: 'AGENT', cell: ({ agentName }) => agentName },
      { title: 'ISSUER', cell: ({ issuer }) => issuer },
      { title: 'CONDITIONS', cell: formatConditions },
      { title: 'LAST USED', cell: ({ lastUsedAt }) => formatAgo(lastUsedAt, Date.now()) },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'create',
    description: 'let workloads of an issuer get gateway tokens of an agent',
    operation: 'POST /v1/trust-rules',
    fields: {
      name: requiredField(textField('--name <name>', 'what it is for')),
      issuer: requiredField(
        mapField(
          textField('--issuer <issuer>', 'iss of the tokens, or github or gitlab'),
          (issuer) => ISSUERS[issuer] ?? issuer,
        ),
      ),
      conditions: requiredField(conditionsField()),
      jwks: jwksField,
      keyLifetimeSeconds: lifetimeField,
      jtiOnce: flagField('--once', 'accept each token once, by its jti'),
    },
    options: [new Option('--agent <agent>', 'whose tokens it gives').makeOptionMandatory()],
    body: async (run, { options }) => ({ agentId: await findAgentId(run, String(options.agent)) }),
    print: (run, { rule }) => run.printLine(formatRule(rule)),
    after: (run, { rule }) => run.printNote(`use it: acg run --trust-rule ${rule.id} -- <command>`),
  }),
  operationCommand({
    name: 'show',
    description: 'show its audience, conditions and last rejection',
    operation: 'GET /v1/trust-rules/{id}',
    target: RULE,
    print: (run, { rule }) => run.printLine(formatRule(rule)),
  }),
  operationCommand({
    name: 'set',
    description: 'change it; all but a new name ends its gateway tokens',
    operation: 'PATCH /v1/trust-rules/{id}',
    target: RULE,
    fields: {
      name: textField('--name <name>', 'what it is for'),
      conditions: conditionsField(),
      jwks: jwksField,
      keyLifetimeSeconds: lifetimeField,
      jtiOnce: mapField(
        choiceField('--once <yes-or-no>', 'accept each token once, by its jti', ['yes', 'no']),
        (choice) => choice === 'yes',
      ),
    },
    print: (run, { rule }) => run.printLine(formatRule(rule)),
  }),
  operationCommand({
    name: 'rm',
    description: 'delete it; its gateway tokens and their running calls end',
    operation: 'DELETE /v1/trust-rules/{id}',
    target: RULE,
    confirm: ({ found, at }) => `Delete the trust rule ${found.name} ${at}? Its gateway tokens and calls end at once.`,
    print: (run, _response, { found }) => run.printSuccess(`${found.name} is deleted`),
  }),
);
