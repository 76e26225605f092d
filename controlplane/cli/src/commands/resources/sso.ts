/**
 * `acg sso`: single sign-on of the organization, with its identity provider and the verified domains. The client secret
 * comes from stdin, a file, a variable or a hidden prompt, because `ps` shows arguments.
 */
import { Argument, InvalidArgumentError, Option, type OptionValues } from 'commander';
import type { BodyOf, ResponseOf } from '../../api/call-api-operation.js';
import { isUuid, notFoundError } from '../../api/find-by-name.js';
import { findMemberId } from '../../api/find-member.js';
import type { Invocation } from '../../invocation/invocation.js';
import { choiceField, mapField, parsedField, textField } from '../../options/field.js';
import { parsePair } from '../../options/page-options-and-value-parsers.js';
import { CliError, EXIT_CODES, usage } from '../../terminal/cli-error.js';
import { formatAgo, formatDay } from '../../terminal/format-numbers-and-times.js';
import { promptSecret } from '../../terminal/prompt.js';
import { readSecret } from '../../terminal/secret-input.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

type Settings = ResponseOf<'GET /v1/sso'>;
type Input = BodyOf<'PUT /v1/sso'>;
type GroupRole = NonNullable<Input['groupRoles']>[number];
type Domain = ResponseOf<'POST /v1/sso/domains'>['domain'];

const GROUP_ROLES = ['viewer', 'member', 'admin'] as const;
const DOMAIN: Target = {
  argument: ['<domain>', 'domain name or id'],
  async find(run, text) {
    if (isUuid(text)) return { id: text };
    const { domains } = await fetchSettings(run);
    const found = domains.find(({ domain }) => domain === text.toLowerCase());
    if (found === undefined) throw notFoundError('domain', text, 'acg sso show');
    return found;
  },
};
const OWNER_ARGUMENT = ['<owner>', 'e-mail or id of the break-glass owner; none ends the requirement'] as const;

export const registerSsoCommands = commandGroup(
  operationCommand({
    name: 'show',
    description: 'show the identity provider, the redirect URI and the domains',
    operation: 'GET /v1/sso',
    print: printSettings,
  }),
  operationCommand({
    name: 'set',
    description: 'set the identity provider; options that are left out stay as they are',
    operation: 'PUT /v1/sso',
    fields: {
      issuer: textField('--issuer <url>', 'the issuer, as the discovery document of the provider names it'),
      clientId: textField('--client-id <id>', 'the client that the provider knows'),
      defaultRole: mapField(
        choiceField('--default-role <role>', 'of people who log in for the first time; none: by invitation only', [
          ...GROUP_ROLES,
          'none',
        ]),
        (role) => (role === 'none' ? null : role),
      ),
      groupsClaim: textField('--groups-claim <name>', 'the claim of the ID token that lists the groups'),
      groupRoles: parsedField(
        '--group <name=role>',
        'role of a group: viewer, member or admin; repeatable. All groups of the command replace the former ones',
        parseGroupRole,
      ),
    },
    options: [
      new Option('--no-groups', 'groups decide nothing'),
      new Option('--secret-stdin', 'read the client secret from stdin'),
      new Option('--secret-file <file>', 'read it from a file; - for stdin'),
      new Option('--secret-env <name>', 'read it from a variable'),
    ],
    body: async (run, { options }) => completeInput(run, options),
    print: printSettings,
  }),
  operationCommand({
    name: 'test',
    description: 'test the identity provider and the settings without a login; fails when a step fails',
    operation: 'POST /v1/sso/test',
    print(run, { steps }) {
      for (const { name, ok, message, action } of steps) run.printCheck({ ok, name, detail: message, fix: action });
    },
    after(_run, { steps }) {
      const failures = steps.filter(({ ok }) => ok === false).map(({ name }) => name);
      if (failures.length > 0) throw new CliError(EXIT_CODES.failed, `failed: ${failures.join(', ')}`);
    },
  }),
  operationCommand({
    name: 'require',
    description: 'require single sign-on of everybody but one break-glass owner, who has a second factor',
    operation: 'PUT /v1/sso',
    fields: {
      breakGlassUserId: {
        parameter: new Argument(...OWNER_ARGUMENT),
        read: async (text: string, run: Invocation) =>
          text === 'none' ? null : findMemberId(await run.getClient(), text),
      },
    },
    body: async (run) => requireConnection(await fetchSettings(run)),
    confirm: ({ text, at }) =>
      text === 'none'
        ? `Let everybody log in without single sign-on ${at}?`
        : `Require single sign-on of everybody but ${text} ${at}? Sessions that a password opened then get 403.`,
    print: printSettings,
  }),
  operationCommand({
    name: 'remove',
    description: 'remove the identity provider and end its sessions',
    operation: 'DELETE /v1/sso',
    confirm: ({ at }) => `Remove single sign-on ${at}, and end the sessions that it opened?`,
    print: (run) => run.printSuccess('single sign-on is removed'),
  }),
  operationCommand({
    name: 'add-domain',
    description: 'add a domain of e-mail addresses; prints the TXT record that verifies it',
    operation: 'POST /v1/sso/domains',
    fields: { domain: textField('<domain>', 'e.g. example.com') },
    print: (run, { domain }) => run.printFields(recordFields(domain)),
    after: (run, { domain }) => run.printNote(`create the record, then: acg sso verify-domain ${domain.domain}`),
  }),
  operationCommand({
    name: 'verify-domain',
    description: 'look up the TXT record of a domain now',
    operation: 'POST /v1/sso/domains/{id}/verify',
    target: DOMAIN,
    print(run, { domain }) {
      if (domain.verifiedAt !== null) run.printSuccess(`${domain.domain} is verified`);
      else run.printFields(recordFields(domain));
    },
    after(_run, { domain }) {
      if (domain.verifiedAt === null)
        throw new CliError(EXIT_CODES.failed, `${domain.domain} has no such TXT record yet`, {
          hint: 'create it, and try again in some minutes',
        });
    },
  }),
  operationCommand({
    name: 'remove-domain',
    description: 'remove a domain: its new people are rejected, members stay',
    operation: 'DELETE /v1/sso/domains/{id}',
    target: DOMAIN,
    confirm: ({ text, at }) => `Remove the domain ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is removed`),
  }),
);

const fetchSettings = async (run: Invocation): Promise<Settings> => (await run.getClient()).get('/v1/sso');

/** The fields that the API needs in each request, as they are. */
function requireConnection({ connection }: Settings): Pick<Input, 'issuer' | 'clientId' | 'defaultRole'> {
  if (connection === null) throw usage('this organization has no identity provider', 'acg sso set');
  const { issuer, clientId, defaultRole } = connection;
  return { issuer, clientId, defaultRole };
}

/** Adds to the options what the API needs: present values of required fields, and the secret of a new client. */
async function completeInput(run: Invocation, options: OptionValues): Promise<Partial<Input>> {
  const settings = await fetchSettings(run);
  const { connection } = settings;
  if (connection === null && (options.issuer === undefined || options.clientId === undefined))
    throw usage('the identity provider is new: give --issuer and --client-id', 'acg sso set --help');
  if (options.groups === false && options.group !== undefined) throw usage('give either --group or --no-groups');
  const present = connection === null ? { defaultRole: null } : requireConnection(settings);
  const isSameClient =
    connection !== null &&
    (options.issuer ?? connection.issuer) === connection.issuer &&
    (options.clientId ?? connection.clientId) === connection.clientId;
  const source = { stdin: options.secretStdin, file: options.secretFile, env: options.secretEnv };
  const given = await readSecret(run.terminal, source);
  const clientSecret = given ?? (isSameClient ? null : await promptClientSecret(run));
  return {
    ...present,
    ...(clientSecret === null ? {} : { clientSecret }),
    ...(options.groups === false ? { groupRoles: [] } : {}),
  };
}

const promptClientSecret = (run: Invocation): Promise<string> =>
  promptSecret(run, { message: 'Client secret', flag: '--secret-stdin, --secret-file or --secret-env' });

function parseGroupRole(text: string, before: GroupRole[] = []): GroupRole[] {
  // Names of groups may have an equals sign; roles have none.
  const at = text.lastIndexOf('=');
  const [group, role] = at < 1 ? parsePair(text) : [text.slice(0, at), text.slice(at + 1)];
  const known = GROUP_ROLES.find((name) => name === role);
  if (known === undefined) throw new InvalidArgumentError(`The role must be one of ${GROUP_ROLES.join(', ')}.`);
  return [...before, { group, role: known }];
}

const recordFields = ({ domain, recordName, recordValue }: Domain): Record<string, string> => ({
  domain,
  'TXT record': recordName,
  content: recordValue,
});

function printSettings(run: Invocation, { connection, redirectUri, domains }: Settings): void {
  run.printFields({
    'redirect URI': redirectUri,
    ...(connection === null
      ? { provider: 'none' }
      : {
          issuer: connection.issuer,
          client: connection.clientId,
          'new people': connection.defaultRole ?? 'by invitation only',
          required: connection.breakGlassUserId === null ? 'no' : `yes, but not of ${connection.breakGlassUserId}`,
          'groups claim': connection.groupsClaim,
          since: formatDay(connection.createdAt),
        }),
  });
  run.printTable(
    [
      { title: 'GROUP', cell: ({ group }) => group },
      { title: 'ROLE', cell: ({ role }) => role },
    ],
    connection?.groupRoles ?? [],
  );
  run.printTable(
    [
      { title: 'DOMAIN', cell: ({ domain }) => domain },
      { title: 'STATE', cell: ({ verifiedAt }) => (verifiedAt === null ? 'not verified' : 'verified') },
      { title: 'CHECKED', cell: ({ checkedAt }) => formatAgo(checkedAt, Date.now()) },
      { title: 'ID', cell: ({ id }) => id },
    ],
    domains,
  );
}
